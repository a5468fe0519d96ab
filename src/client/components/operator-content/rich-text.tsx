import type { ComponentProps } from "react";
import Markdown, { type Options } from "react-markdown";
import rehypeRaw from "rehype-raw";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";

/**
 * Looks only: nothing that fetches (url), leaves its place (position, negative margins) or computes. No colours: those
 * chosen for one theme are not readable in the other. Each declaration ends at a semicolon or at the end, so that there
 * is one way to read a text and its length is its cost.
 */
const SAFE_STYLE =
  /^(?:\s*(?:text-align|font-size|font-weight|font-style|text-decoration|line-height|width|max-width)\s*:[#\w\s.,%-]*(?:;|$))*\s*$/i;

interface Element {
  properties?: Record<string, unknown>;
  children?: Element[];
}

/**
 * Keeps the harmless declarations of a style and drops the others; the sanitiser then drops a style that is not safe.
 */
function safeStyles() {
  const walk = ({ properties, children = [] }: Element): void => {
    const style = properties?.["style"];
    if (properties && typeof style === "string") {
      properties["style"] = style
        .split(";")
        .filter((declaration) => SAFE_STYLE.test(declaration))
        .join(";");
    }
    children.forEach(walk);
  };
  return walk;
}

/**
 * What may remain of the operator's HTML: the sanitiser's own list, which is GitHub's, and a few looks. Scripts,
 * frames, forms, event handlers, `javascript:` and ids that could shadow the page's own are not on it.
 */
const schema: NonNullable<Parameters<typeof rehypeSanitize>[0]> = {
  ...defaultSchema,
  tagNames: [
    ...(defaultSchema.tagNames ?? []).filter((name) => name !== "input"),
    "center",
    "figure",
    "figcaption",
    "mark",
    "small",
    "u",
  ],
  attributes: { ...defaultSchema.attributes, "*": [...(defaultSchema.attributes?.["*"] ?? []), ["style", SAFE_STYLE]] },
  protocols: { ...defaultSchema.protocols, href: ["http", "https", "mailto", "tel"], src: ["https"] },
};

/** A text that begins with a tag is HTML as a whole: Markdown would take its indented lines for code. */
function wholeHtml() {
  return (tree: { children: unknown[] }, file: { value: unknown }) => {
    const text = String(file.value);
    if (/^\s*<[a-z!]/i.test(text)) tree.children = [{ type: "html", value: text }];
  };
}

/** Links lead out of the console into a tab of their own; those of this site stay in it. */
function ContentLink({ href = "", children, title, id }: ComponentProps<"a">) {
  const outside = /^(https?:)?\/\//i.test(href);
  return (
    <a id={id} href={href} title={title} {...(outside && { target: "_blank", rel: "noopener noreferrer nofollow" })}>
      {children}
    </a>
  );
}

/** An image from another site, loaded without a referrer; addresses of this site are not loaded as images. */
function ContentImage({ src, alt = "", title, width, height }: ComponentProps<"img">) {
  if (!/^https:\/\//i.test(src ?? "")) return <>{alt}</>;
  return (
    <img
      src={src}
      alt={alt}
      title={title}
      width={width}
      height={height}
      loading="lazy"
      decoding="async"
      referrerPolicy="no-referrer"
    />
  );
}

/** A wide table scrolls in its own frame, which the keyboard reaches. */
function ContentTable({ children }: ComponentProps<"table">) {
  return (
    <div className="overflow-x-auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

const components: Options["components"] = { a: ContentLink, img: ContentImage, table: ContentTable };

/**
 * The operator's Markdown or HTML, sanitised; loaded on its own because few pages need it. `demote` turns its h1 into
 * an h2 where the page has a title of its own.
 */
export default function RichText({ text, demote = false }: { text: string; demote?: boolean }) {
  return (
    <Markdown
      remarkPlugins={[remarkGfm, wholeHtml]}
      rehypePlugins={[rehypeRaw, safeStyles, [rehypeSanitize, schema]]}
      components={demote ? { ...components, h1: ({ children }) => <h2>{children}</h2> } : components}
    >
      {text}
    </Markdown>
  );
}
