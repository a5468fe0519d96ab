import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { RuleConditions } from "../../../shared/price-rules";

/** The conditions of rules, in the order in which they are offered. */
export const conditionNames: Readonly<Record<keyof RuleConditions, MessageDescriptor>> = {
  hours: msg`时段`,
  dates: msg`日期范围`,
  input: msg`输入长度`,
  cached: msg`缓存命中`,
  service_tier: msg`服务档位`,
  region: msg`处理地区`,
  batch: msg`批处理`,
  size: msg`图片尺寸`,
  quality: msg`图片质量`,
  seconds: msg`视频时长`,
  resolution: msg`视频分辨率`,
  member: msg`请求成员的值`,
};
