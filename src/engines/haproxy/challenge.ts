// The page that has a browser work before its requests are let through: it looks for a number whose hash begins with
// zeros, and keeps it in a cookie. Pages without HTTPS have no `crypto.subtle`, so the hash is computed here.

/** What the hash of a solved challenge begins with, as hexadecimal: sixteen bits, so some 65,000 attempts. */
export const SOLVED_START = "0000";

/** The cookie with the number. */
export const PASS_COOKIE = "pilvi_pass";

/**
 * SHA-256 (FIPS 180-4) of short ASCII texts, as hexadecimal. Constants come from the primes, as the standard says. The
 * variable `SEED` has the text that the number is appended to.
 */
export const CHALLENGE_SCRIPT = `
var K=[],H=[];for(var n=2;K.length<64;n++){for(var p=true,i=2;i*i<=n;i++)if(n%i===0)p=false;
if(p){if(H.length<8)H.push((Math.sqrt(n)%1)*4294967296|0);K.push((Math.cbrt(n)%1)*4294967296|0)}}
function R(x,n){return x>>>n|x<<32-n}
function sha256(t){var l=t.length,W=[],h=H.slice(),b=new Array((l+72>>6)*16).fill(0);
for(var i=0;i<l;i++)b[i>>2]|=t.charCodeAt(i)<<24-8*(i&3);
b[l>>2]|=128<<24-8*(l&3);b[b.length-1]=l*8;
for(var o=0;o<b.length;o+=16){var s=h.slice();for(i=0;i<64;i++){if(i<16)W[i]=b[o+i];else{var x=W[i-15],y=W[i-2];
W[i]=W[i-16]+(R(x,7)^R(x,18)^x>>>3)+W[i-7]+(R(y,17)^R(y,19)^y>>>10)|0}
var e=s[4],a=s[0],u=s[7]+(R(e,6)^R(e,11)^R(e,25))+(e&s[5]^~e&s[6])+K[i]+W[i]|0,
v=(R(a,2)^R(a,13)^R(a,22))+(a&s[1]^a&s[2]^s[1]&s[2])|0;
s=[u+v|0,a,s[1],s[2],s[3]+u|0,e,s[5],s[6]]}for(i=0;i<8;i++)h[i]=h[i]+s[i]|0}
return h.map(function(x){return(x>>>0).toString(16).padStart(8,"0")}).join("")}
var nonce=0;function work(){for(var i=0;i<4000;i++,nonce++)if(sha256(SEED+"/"+nonce).indexOf("${SOLVED_START}")===0){
document.cookie="${PASS_COOKIE}="+nonce+";path=/;max-age=86400;samesite=lax";location.reload();return}
setTimeout(work,0)}work();`;
