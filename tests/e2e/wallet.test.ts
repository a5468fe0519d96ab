/** The wallet and the redemption codes in a real browser against a real Weir. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { becomes } from "../kit/browser-wait";
import { required } from "../kit/required";
import { type } from "../kit/typing";
import { type Session, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
let weir: Weir;
let browser: TestBrowser;
let user: Session;

beforeAll(async () => {
  if (noChromium) return;
  browser = await launchBrowser();
  weir = await startWeir();
  user = await weir.newUser({ quota: 1_000_000 });
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

describe.skipIf(noChromium)("wallet and codes in the console", () => {
  test("an administrator creates a batch, copies it, downloads it, and a user redeems one code", async () => {
    const office = await browser.open(`${weir.url}/redemption?edit=new`, { as: weir.root });
    const form = office.page.getByRole("dialog");
    await type(form.getByLabel("名称"), "e2e/batch");
    await form.getByRole("button", { name: "$10", exact: true }).click();
    await type(form.getByLabel(/^数量/), "2");
    await form.getByRole("button", { name: "创建" }).click();
    // spec: C-029, C-122, C-130
    await office.page.getByRole("heading", { name: "已创建 2 个兑换码" }).waitFor();
    await office.page.getByRole("button", { name: "复制全部" }).click();
    // spec: C-130
    await office.page.getByText("已复制 2 个兑换码").waitFor();
    const codes = (await office.page.evaluate(() => navigator.clipboard.readText())).split("\n");
    expect(codes).toHaveLength(2);
    const [file] = await Promise.all([
      office.page.waitForEvent("download"),
      office.page.getByRole("button", { name: "下载 TXT" }).click(),
    ]);
    // spec: C-130
    expect(file.suggestedFilename()).toBe("e2e_batch.txt");
    expect(
      readFileSync(await file.path(), "utf8")
        .trim()
        .split("\n"),
    ).toEqual(codes);
    office.check();
    await office.close();

    const wallet = await browser.open(`${weir.url}/topup`, { as: user });
    await type(wallet.page.getByLabel("输入兑换码"), ` ${codes[0]?.toUpperCase()} `);
    await wallet.page.getByRole("button", { name: "兑换", exact: true }).click();
    // spec: C-030, C-132
    await wallet.page.getByText("兑换成功，到账 $10.00").waitFor();
    // spec: C-131, C-137
    await wallet.page.getByRole("main").getByText("$12.00").waitFor();
    await becomes(async () => (await weir.balance(user.id)).quota, 6_000_000);
    wallet.expectProblem("status of 400");
    await type(wallet.page.getByLabel("输入兑换码"), codes[0] ?? "");
    await wallet.page.getByRole("button", { name: "兑换", exact: true }).click();
    await wallet.page.getByRole("alert").filter({ hasText: "无效的兑换码，或该兑换码已被使用" }).waitFor();
    wallet.check();
    await wallet.close();
    expect((await weir.balance(user.id)).quota).toBe(6_000_000);
    expect(await weir.audit()).toEqual([]);
  });

  test.each([
    ["zh", "light", "desktop"],
    ["en", "dark", "phone"],
  ] as const)(
    "both pages have no axe violation and do not scroll sideways (%s, %s, %s)",
    async (language, theme, viewport) => {
      const tab = await browser.open(`${weir.url}/topup?invite=settle`, { as: weir.root, language, theme, viewport });
      for (const path of ["/topup?invite=settle", "/redemption", "/redemption?edit=new"]) {
        await tab.page.goto(weir.url + path);
        await tab.page.locator("main").first().waitFor();
        await tab.settled();
        await tab.looksRight();
      }
      tab.check();
      await tab.close();
    },
  );
});
