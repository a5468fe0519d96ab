import type { TokenView } from "../../../shared/token";

/** The models that a token is limited to, whether the limits are on or not. */
export const modelsOf = ({ model_limits }: Pick<TokenView, "model_limits">): string[] =>
  model_limits.split(",").filter(Boolean);
