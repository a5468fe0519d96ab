import { expect, test } from "bun:test";
import { chatFrameOrigin, chatLinkKind, fillChatLink } from "./chat-links";

test("{key} becomes sk- and the key, {address} the encoded address, and nothing else is substituted", () => {
  const at = { key: "abc", address: "https://weir.example:8443/x" };
  // spec: C-049
  expect(fillChatLink("https://x/?k={key}&a={address}&m={model}", at)).toBe(
    "https://x/?k=sk-abc&a=https%3A%2F%2Fweir.example%3A8443%2Fx&m={model}",
  );
  expect(fillChatLink("app://{key}/{key}", { ...at, key: "sk-abc" })).toBe("app://sk-abc/sk-abc");
  // A "$&" in a value is no instruction to replace.
  expect(fillChatLink("https://x/{key}", { ...at, key: "$&" })).toBe("https://x/sk-$&");
});

test("web pages are framed, programs opened, and no link runs a script in the console's page", () => {
  expect(chatLinkKind("https://chat.example/#/?k={key}")).toBe("page");
  expect(chatLinkKind("HTTP://chat.example")).toBe("page");
  // spec: C-048
  expect(chatLinkKind("cherrystudio://providers?k={key}")).toBe("program");
  for (const link of [
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "blob:https://x/1",
    "file:///etc",
    "/chat",
    "",
  ]) {
    expect(chatLinkKind(link)).toBeUndefined();
  }
});

test("a frame needs exactly the link's origin, and no link can write the policy", () => {
  // spec: C-048
  expect(chatFrameOrigin("https://Chat.example:8443/a?k={key}#x")).toBe("https://chat.example:8443");
  expect(chatFrameOrigin("http://127.0.0.1:3000/{address}")).toBe("http://127.0.0.1:3000");
  for (const link of [
    "app://x",
    "https://{key}.example",
    "https://a;script-src*",
    "https://*.example",
    "https://it's",
    "javascript:1",
    "nonsense",
  ]) {
    expect(chatFrameOrigin(link)).toBeUndefined();
  }
});
