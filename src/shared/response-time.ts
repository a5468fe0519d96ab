/** Colours of the response time (C-335 to C-339): milliseconds, 0 = untested. */
export function responseTimeColor(ms: number): "neutral" | "green" | "lime" | "yellow" | "red" {
  if (ms <= 0) return "neutral";
  if (ms <= 1000) return "green";
  if (ms <= 3000) return "lime";
  return ms <= 5000 ? "yellow" : "red";
}
