// Redis.
import { redisLike } from "./engine.ts";
import { program } from "./program.ts";

export const redis = redisLike("redis", program);
