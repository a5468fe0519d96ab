import { QueryErrorResetBoundary } from "@tanstack/react-query";
import { Component, type ReactNode } from "react";
import { ErrorPanel } from "./error-panel";

type Props = { children: ReactNode; onReset: () => void; resetKey?: unknown };

class Boundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: null, failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate(previous: Props) {
    if (this.state.failed && previous.resetKey !== this.props.resetKey) this.setState({ error: null, failed: false });
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

/** Keeps a failure inside one panel: the rest of the page goes on. A changed `resetKey` tries again by itself. */
export function ErrorBoundary({ children, resetKey }: { children: ReactNode; resetKey?: unknown }) {
  return (
    <QueryErrorResetBoundary>
      {({ reset }) => (
        <Boundary onReset={reset} resetKey={resetKey}>
          {children}
        </Boundary>
      )}
    </QueryErrorResetBoundary>
  );
}
