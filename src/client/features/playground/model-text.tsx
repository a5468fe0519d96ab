import { useLingui } from "@lingui/react/macro";
import type { ComponentProps, ReactNode } from "react";
import Markdown, { type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { cn } from "../../lib/cn";
import { CopyButton } from "../../ui/copy-button";

const LOOK = [
  "text-base wrap-anywhere [&>:first-child]:mt-0 [&>:last-child]:mb-0",
  "[&_:is(p,ul,ol,blockquote)]:my-2 [&_ul]:list-disc [&_ul]:pl-6 [&_ol]:list-decimal [&_ol]:pl-6",
  "[&_blockquote]:border-l-2 [&_blockquote]:border-line [&_blockquote]:pl-3 [&_blockquote]:text-ink-2",
  "[&_:not(pre)>code]:rounded-sm [&_:not(pre)>code]:bg-sunken [&_:not(pre)>code]:px-1 [&_code]:font-mono [&_code]:text-[0.92em]",
  "[&_hr]:my-4 [&_hr]:border-line [&_table]:border-collapse [&_:is(th,td)]:border [&_:is(th,td)]:border-line",
  "[&_:is(th,td)]:px-3 [&_:is(th,td)]:py-1.5 [&_:is(th,td)]:text-left",
].join(" ");

/** A model's link opens in a tab of its own, and only the web and mail are linked to. */
function safeUrl(url: string): string {
  return /^(https?:\/\/|mailto:)/i.test(url.trim()) ? url : "";
}

function TextLink({ href, children }: ComponentProps<"a">) {
  if (!href) return <span>{children}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent-text underline underline-offset-2"
    >
      {children}
    </a>
  );
}

/** Not fetched: an image's address can leak the conversation to the server that hosts it. */
function TextImage({ src, alt }: ComponentProps<"img">) {
  const { t } = useLingui();
  const name = alt || t`图片`;
  return <TextLink href={typeof src === "string" ? src : undefined}>{t`[图片] ${name}`}</TextLink>;
}

function CodeFrame({ node, children }: ComponentProps<"pre"> & { node?: unknown }) {
  const { t } = useLingui();
  return (
    <div className="relative my-2 rounded-lg border border-line bg-sunken">
      <pre tabIndex={0} aria-label={t`代码`} className="overflow-x-auto p-3 pr-12 font-mono text-xs -outline-offset-2">
        {children}
      </pre>
      <CopyButton
        text={textIn(node).replace(/\n$/, "")}
        label={t`复制代码`}
        className="absolute top-1 right-1 bg-sunken"
      />
    </div>
  );
}

/** The text of an element of the parsed tree. */
function textIn(node: unknown): string {
  if (typeof node !== "object" || node === null) return "";
  if ("value" in node && typeof node.value === "string") return node.value;
  return "children" in node && Array.isArray(node.children) ? node.children.map(textIn).join("") : "";
}

/** One level for all: a model begins with any, and a page whose headings skip levels cannot be read by them. */
function TextHeading({ big, children }: { big: boolean; children: ReactNode }) {
  return <h2 className={cn("mt-4 mb-2 font-semibold", big ? "text-md" : "text-base")}>{children}</h2>;
}

const heading =
  (big: boolean) =>
  ({ children }: { children?: ReactNode }) => <TextHeading big={big}>{children}</TextHeading>;

const components: Options["components"] = {
  h1: heading(true),
  h2: heading(true),
  h3: heading(false),
  h4: heading(false),
  h5: heading(false),
  h6: heading(false),
  a: ({ href, children }) => <TextLink href={href}>{children}</TextLink>,
  img: ({ src, alt }) => <TextImage src={src} alt={alt} />,
  pre: ({ node, children }) => <CodeFrame node={node}>{children}</CodeFrame>,
  table: ({ children }) => (
    <div className="my-2 overflow-x-auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/**
 * What a model wrote, as Markdown; loaded on its own. Raw HTML stays text, and nothing is fetched or run.
 */
export default function ModelText({ text }: { text: string }) {
  return (
    <div className={LOOK}>
      <Markdown remarkPlugins={[remarkGfm]} urlTransform={safeUrl} components={components}>
        {text}
      </Markdown>
    </div>
  );
}
