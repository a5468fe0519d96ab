import { expect, test } from "bun:test";
import { newConversation } from "../features/playground/conversation";
import { randomId } from "./random-id";

test("ids are UUIDs of version 4, each another one", () => {
  const ids = Array.from({ length: 1000 }, randomId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(1000);
});

test("the playground opens over plain HTTP, where browsers have no crypto.randomUUID", () => {
  const own = Object.getOwnPropertyDescriptor(crypto, "randomUUID");
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  try {
    expect(newConversation().id).not.toBe("");
  } finally {
    if (own) Object.defineProperty(crypto, "randomUUID", own);
    else Reflect.deleteProperty(crypto, "randomUUID");
  }
});
