/** The props of a step-up method. */
export interface StepUpMethodProps {
  onVerified: () => void;
}
