/** The demo channel: a model inside Weir that repeats its input, for trying the gateway without an upstream. */
export const DEMO_MODEL = "demo-echo";
