import { describe, expect, test } from "bun:test";
import { chatLinks, clients, type Connection } from "./clients";

const connection: Connection = {
  root: "https://gw.example",
  key: "sk-Abc123",
  model: "gpt-4o-mini",
  name: "My Gateway",
};
const client = (id: string) => {
  const found = clients.find((each) => each.id === id);
  if (!found) throw new Error(id);
  return found;
};

describe("configurations", () => {
  test("each names the gateway, the key and the model", () => {
    for (const { id, code } of clients) {
      const text = code(connection);
      expect(text, id).toContain("https://gw.example");
      expect(text, id).toContain("sk-Abc123");
      expect(text, id).toContain("gpt-4o-mini");
    }
  });

  test("a masked key leaves nothing of the real one", () => {
    for (const { id, code } of clients) expect(code({ ...connection, key: "sk-A…3" }), id).not.toContain("sk-Abc123");
  });

  test("the curl command is one shell command whatever the model is called", () => {
    const text = client("curl").code({ ...connection, model: `it's "odd" $HOME` });
    const body = Bun.spawnSync([
      "sh",
      "-c",
      text.replace(/^curl [^\n]*\n[^\n]*\n[^\n]*\n\s*-d /, "printf %s "),
    ]).stdout.toString();
    expect(JSON.parse(body).model).toBe(`it's "odd" $HOME`);
  });

  test("the Codex file is TOML with a provider of its own, in the only wire format Codex accepts", () => {
    const config = Bun.TOML.parse(client("codex").code(connection));
    expect(config).toMatchObject({
      model: "gpt-4o-mini",
      model_provider: "weir",
      model_providers: { weir: { name: "My Gateway", base_url: "https://gw.example/v1", wire_api: "responses" } },
    });
  });
});

describe("links", () => {
  test("Cherry Studio gets its JSON in plain base64", () => {
    const href = client("cherry-studio").link?.href({ ...connection, name: "网关" }) ?? "";
    expect(href).toStartWith("cherrystudio://providers/api-keys?v=1&data=");
    const data = Buffer.from(href.split("data=")[1] ?? "", "base64").toString("utf8");
    expect(JSON.parse(data)).toEqual({
      id: "weir",
      baseUrl: "https://gw.example",
      apiKey: "sk-Abc123",
      name: "网关",
      type: "openai",
    });
  });

  test("CC Switch gets the address that each tool wants", () => {
    const claude = new URL(client("claude-code").link?.href(connection) ?? "");
    const codex = new URL(client("codex").link?.href(connection) ?? "");
    expect(claude.protocol).toBe("ccswitch:");
    expect(claude.searchParams.get("endpoint")).toBe("https://gw.example");
    expect(codex.searchParams.get("endpoint")).toBe("https://gw.example/v1");
    expect(codex.searchParams.get("app")).toBe("codex");
    expect(codex.href).not.toContain("+");
  });

  test("the operator's chat links are filled in; what is no web address is left out", () => {
    const links = chatLinks(
      [
        { Next: 'https://chat.example/#/?settings={"key":"{key}","url":"{address}"}' },
        { Bad: "javascript:alert('{key}')" },
        { Plain: "https://x.example" },
      ],
      connection,
    );
    expect(links).toEqual([
      { name: "Next", href: 'https://chat.example/#/?settings={"key":"sk-Abc123","url":"https%3A%2F%2Fgw.example"}' },
    ]);
  });
});
