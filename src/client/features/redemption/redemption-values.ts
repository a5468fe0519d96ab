/** What the form of a redemption code holds, how it becomes a call, and what is wrong with it. */
import type { FieldErrors, Resolver } from "react-hook-form";
import type * as z from "zod";
import {
  isRedemptionExpired,
  REDEMPTION_DEFAULTS,
  redemptionCreate,
  type RedemptionView,
} from "../../../shared/redemption";

/** Number fields are null while empty. */
export interface RedemptionValues {
  /** "" = named after the quota. */
  name: string;
  /** Units. */
  quota: number | null;
  /** Epoch seconds, null = never. */
  expired_time: number | null;
  /** New ones only. */
  count: number | null;
}

export const emptyRedemption: RedemptionValues = {
  name: "",
  quota: REDEMPTION_DEFAULTS.quota,
  expired_time: null,
  count: REDEMPTION_DEFAULTS.count,
};

export const valuesOf = ({ name, quota, expired_time }: RedemptionView): RedemptionValues => ({
  name,
  quota,
  expired_time: expired_time === 0 ? null : expired_time,
  count: 1,
});

/** The values as the call takes them; an empty number is NaN, which the shape refuses. */
export const fieldsOf = ({ name, quota, expired_time, count }: RedemptionValues): z.input<typeof redemptionCreate> => ({
  name,
  quota: quota ?? Number.NaN,
  expired_time: expired_time ?? 0,
  count: count ?? Number.NaN,
});

const isField = (name: string): name is keyof RedemptionValues => Object.hasOwn(emptyRedemption, name);

/** Refuses what the server would refuse, with its error codes; `before` is the expiry that a stored code may keep. */
export function redemptionResolver(before: number | null): Resolver<RedemptionValues> {
  return (values) => {
    const errors: FieldErrors<RedemptionValues> = {};
    for (const issue of redemptionCreate.safeParse(fieldsOf(values)).error?.issues ?? []) {
      const field = String(issue.path[0]);
      if (isField(field)) errors[field] ??= { type: "shared", message: issue.message };
    }
    const expired_time = values.expired_time ?? 0;
    if (values.expired_time !== before && isRedemptionExpired({ expired_time }, Math.floor(Date.now() / 1000))) {
      errors.expired_time ??= { type: "shared", message: "redemption_expiry_invalid" };
    }
    return Object.keys(errors).length > 0 ? { values: {}, errors } : { values, errors: {} };
  };
}
