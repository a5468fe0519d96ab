import { QueryErrorResetBoundary } from "@tanstack/react-query";
import { Component, type ReactNode } from "react";
import { useLostConnection } from "../lib/connection";
import { ErrorPanel } from "./error-panel";

type Props = { children: ReactNode; onReset: () => void; resetKey?: unknown; connected: boolean };

class Boundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: null, failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate(previous: Props) {
    const { resetKey, connected } = this.props;
    const again = previous.resetKey !== resetKey || (connected && !previous.connected);
    if (this.state.failed && again) this.setState({ error: null, failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    const retry = () => {
      this.props.onReset();
      this.setState({ error: null, failed: false });
    };
    return <ErrorPanel error={this.state.error} onRetry={retry} />;
  }
}

/**
 * Keeps a failure inside one panel: the rest of the page goes on. A changed `resetKey`, and a server that is back, try
 * again by themselves.
 */
export function ErrorBoundary({ children, resetKey }: { children: ReactNode; resetKey?: unknown }) {
  const connected = useLostConnection() === null;
  return (
    <QueryErrorResetBoundary>
      {({ reset }) => (
        <Boundary onReset={reset} resetKey={resetKey} connected={connected}>
          {children}
        </Boundary>
      )}
    </QueryErrorResetBoundary>
  );
}
