/** The demo channel: a model inside Weir that repeats what it is told, for trying the gateway without an upstream. */
export const DEMO_MODEL = "demo-echo";
