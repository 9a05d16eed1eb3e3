// Redis.
import { redisLike } from "./engine.ts";

export const redis = redisLike("redis");
