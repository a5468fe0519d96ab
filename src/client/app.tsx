import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ClipboardFallback } from "./components/clipboard-fallback";
import { ConfirmHost } from "./components/confirm";
import { Toasts } from "./components/toasts";
import { SecondStepHost } from "./features/factor/second-step-host";
import { StepUpHost } from "./features/auth/step-up-host";
import { watchConnection } from "./lib/connection";
import { createQueryClient } from "./lib/query-client";
import { joinTabs } from "./lib/tabs";
import { createTrpcClient, trpc } from "./lib/trpc";
import { Shell } from "./shell/shell";
import { LayersLabel } from "./ui/layers";
import { TooltipProvider } from "./ui/tooltip";

/** The console: providers outside, the shell with its pages inside, what floats over them last. */
export function App() {
  const [queries] = useState(createQueryClient);
  const [client] = useState(createTrpcClient);
  useEffect(() => {
    const ends = [watchConnection(queries), joinTabs(queries)];
    return () => ends.forEach((end) => end());
  }, [queries]);

  return (
    <I18nProvider i18n={i18n}>
      <trpc.Provider client={client} queryClient={queries}>
        <QueryClientProvider client={queries}>
          <TooltipProvider>
            <Shell />
            <LayersLabel />
            <ConfirmHost />
            <StepUpHost />
            <SecondStepHost />
            <ClipboardFallback />
            <Toasts />
          </TooltipProvider>
        </QueryClientProvider>
      </trpc.Provider>
    </I18nProvider>
  );
}
