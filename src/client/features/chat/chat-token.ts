import { t } from "@lingui/core/macro";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { TOKEN_STATUS } from "../../../shared/token";
import { chatLinkFor } from "../../lib/chats";
import { reportError } from "../../lib/errors";
import { toastError } from "../../lib/toast";
import { trpc } from "../../lib/trpc";

/** Time to read why, in milliseconds, before the page of the tokens opens (C-581). */
const LEAVE_AFTER = 1500;

/**
 * A chat link with the user's first enabled token; undefined until it is known. Without such a token it says so and
 * goes to the tokens. `template` null asks for nothing.
 */
export function useChatLink(template: string | null): string | undefined {
  const { client } = trpc.useUtils();
  const [, navigate] = useLocation();
  const [link, setLink] = useState<{ template: string; href: string }>();

  useEffect(() => {
    if (template === null) return;
    let left = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const find = async () => {
      const { items } = await client.token.list.query({ page_size: 100 });
      const token = items.find(({ status }) => status === TOKEN_STATUS.enabled);
      if (left) return;
      if (token) {
        const { key } = await client.token.reveal.mutate({ id: token.id });
        if (!left) setLink({ template, href: chatLinkFor(template, key) });
        return;
      }
      toastError(t`当前没有可用的启用令牌，请先创建或启用一个令牌！`);
      timer = setTimeout(() => navigate("/token"), LEAVE_AFTER);
    };
    find().catch((error: unknown) => {
      if (!left) reportError(error);
    });
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [template, client, navigate]);

  return link?.template === template ? link?.href : undefined;
}
