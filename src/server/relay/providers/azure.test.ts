import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import { imageEdits } from "../operations/images";
import { translations } from "../operations/transcription";
import { urlOf } from "./address";
import { azure } from "./azure";

const type = channelType(3);
if (!type) throw new Error("no channel type 3");
const channel = (more: Partial<PoolChannel> = {}): PoolChannel => ({
  id: 1,
  name: "c",
  type,
  key: "k",
  base_url: "https://res.openai.azure.com",
  other: "",
  organization: "",
  models: new Set(),
  groups: new Set(),
  priority: 0,
  weight: 0,
  auto_ban: true,
  model_mapping: new Map(),
  status_mapping: new Map(),
  setting: {},
  test_model: "",
  ...more,
});

describe("Azure's address", () => {
  test("names the deployment without dots and the channel's API version, or the type's default", () => {
    // spec: C-236
    expect(azure.url(channel({ other: "2024-10-21" }), "chat", "gpt-3.5-turbo")).toBe(
      "https://res.openai.azure.com/openai/deployments/gpt-35-turbo/chat/completions?api-version=2024-10-21",
    );
    expect(azure.url(channel(), "chat", "gpt-4o")).toEndWith("/gpt-4o/chat/completions?api-version=2023-06-01-preview");
  });

  test("a deployment that the operator's mapping names keeps its dots", () => {
    const mapped = channel({ model_mapping: new Map([["gpt-4.1", "prod-4.1"]]) });
    expect(azure.url(mapped, "chat", "prod-4.1")).toContain("/deployments/prod-4.1/");
  });

  test("edits and translations go to their own paths, with the query kept", () => {
    expect(urlOf(channel(), imageEdits, "gpt-image-1")).toBe(
      "https://res.openai.azure.com/openai/deployments/gpt-image-1/images/edits?api-version=2023-06-01-preview",
    );
    expect(urlOf(channel(), translations, "whisper-1")).toContain("/whisper-1/audio/translations?api-version=");
  });

  test("responses and realtime have paths without a deployment; moderation does not exist there", () => {
    expect(azure.url(channel(), "responses", "gpt-4o")).toBe("https://res.openai.azure.com/openai/v1/responses");
    expect(azure.url(channel(), "realtime", "gpt-4o-realtime")).toEndWith(
      "/openai/realtime?api-version=2023-06-01-preview&deployment=gpt-4o-realtime",
    );
    expect(azure.url(channel(), "moderations", "m")).toBeUndefined();
  });

  test("behind Cloudflare's gateway the resource is in the base address already", () => {
    const gateway = channel({ base_url: "https://gateway.ai.cloudflare.com/v1/acc/gw/azure-openai/res" });
    expect(azure.url(gateway, "chat", "gpt-4o")).toBe(
      "https://gateway.ai.cloudflare.com/v1/acc/gw/azure-openai/res/gpt-4o/chat/completions?api-version=2023-06-01-preview",
    );
  });

  test("a missing deployment is a missing model, and other errors are OpenAI's", () => {
    expect(azure.readError?.({ error: { code: "DeploymentNotFound", message: "none" } })?.code).toBe("model_not_found");
    expect(azure.readError?.({ error: { code: "429", message: "slow down" } })?.message).toBe("slow down");
    expect(azure.readError?.({})).toBeUndefined();
  });
});
