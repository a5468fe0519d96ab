import { cleanup, render, screen } from "../../../../tests/dom";
import { afterEach, describe, expect, test } from "bun:test";
import { HOSTILE_TEXTS } from "../../../../tests/kit/hostile-texts";
import { framedAddress } from "../../../shared/content";
import RichText from "./rich-text";

afterEach(cleanup);

const show = (text: string): HTMLElement => render(<RichText text={text} />).container;

describe("hostile texts", () => {
  for (const [name, text] of HOSTILE_TEXTS) {
    test(`nothing of ${name} can run, fetch by itself or send`, () => {
      const root = show(text);
      expect(
        root.querySelector(
          "script, iframe, object, embed, form, input, button, meta, base, link, style, svg, math, video, audio, template",
        ),
      ).toBeNull();
      for (const element of root.querySelectorAll("*")) {
        for (const { name: attribute, value } of element.attributes) {
          expect(attribute).not.toMatch(/^on|^srcdoc$|^formaction$|^xlink/i);
          if (attribute === "href") expect(value).toMatch(/^(https?:|mailto:|tel:|\/(?!\/)|#|$)/i);
          if (attribute === "src") expect(value).toMatch(/^https:/);
          if (attribute === "style") expect(value).not.toMatch(/url|expression|position|fixed|import|\\/i);
        }
      }
    });
  }

  test("a style costs its length, however it repeats itself", () => {
    for (const style of [
      "max-width:".repeat(10_000),
      "width: 1px ".repeat(10_000),
      `width:${" ".repeat(50_000)}!`,
      `${"width:1px;".repeat(10_000)}!`,
      " ".repeat(50_000),
    ]) {
      const started = performance.now();
      show(`<p style="${style}">x</p>`);
      expect(performance.now() - started).toBeLessThan(1000);
    }
  });

  test("an id of the text cannot stand for one of the page's own", () => {
    const root = show('<p id="root" name="main">x</p><a id="layers" href="#x">y</a>');
    expect([...root.querySelectorAll("[id]")].map(({ id }) => id)).toEqual([
      "user-content-root",
      "user-content-layers",
    ]);
  });
});

describe("what operators write", () => {
  test("Markdown with a table, a list and links becomes those elements", () => {
    show(
      "# Hello\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n- one\n- two\n\n[docs](https://example.com) and [prices](/pricing)",
    );
    expect(screen.getByRole("heading", { level: 1, name: "Hello" })).toBeDefined();
    expect(screen.getAllByRole("cell")).toHaveLength(2);
    expect(screen.getAllByRole("listitem")).toHaveLength(2);
    const docs = screen.getByRole("link", { name: "docs" });
    expect(docs.getAttribute("target")).toBe("_blank");
    expect(docs.getAttribute("rel")).toContain("noopener");
    expect(screen.getByRole("link", { name: "prices" }).getAttribute("target")).toBeNull();
  });

  test("a text that begins with a tag is HTML as a whole, indented lines and blank ones included", () => {
    const root = show(
      '<div align="center">\n\n    <h2>Title</h2>\n\n    <p style="color: #333; text-align: center">Words</p>\n</div>',
    );
    expect(root.querySelector("pre, code")).toBeNull();
    expect(screen.getByRole("heading", { level: 2, name: "Title" })).toBeDefined();
    expect(screen.getByText("Words").style.textAlign).toBe("center");
  });

  test("several looks of one element stay, the others of that element go", () => {
    const root = show('<p style="width: 50%; color: red; FONT-SIZE : 14px;position:fixed;line-height:1.5 ">Words</p>');
    expect(
      root
        .querySelector("p")
        ?.getAttribute("style")
        ?.replace(/[\s;]+/g, " ")
        .trim(),
    ).toBe("width: 50% font-size: 14px line-height: 1.5");
  });

  test("a picture is fetched without telling where from, and not before it is in sight", () => {
    show("![logo](https://example.com/a.png)");
    const picture = screen.getByRole("img", { name: "logo" });
    expect(picture.getAttribute("referrerpolicy")).toBe("no-referrer");
    expect(picture.getAttribute("loading")).toBe("lazy");
  });
});

test("only a text that is nothing but an https address is framed", () => {
  expect(framedAddress("https://example.com/page")?.href).toBe("https://example.com/page");
  for (const text of [
    "http://example.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://example.com is here",
    "//example.com",
    "",
  ]) {
    expect(framedAddress(text)).toBeUndefined();
  }
});
