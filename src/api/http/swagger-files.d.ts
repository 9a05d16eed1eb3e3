// Declares to the type checker that an imported file of the documentation page is the path to it.
declare module "swagger-ui-dist/*" {
  const path: string;
  export default path;
}
