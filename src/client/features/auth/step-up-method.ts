/** What a way to prove that one is oneself is given. */
export interface StepUpMethodProps {
  onVerified: () => void;
}
