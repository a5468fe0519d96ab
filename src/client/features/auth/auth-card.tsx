import type { ReactNode } from "react";
import { Card } from "../../ui/card";

/** The frame of the pages before the console: one card in the middle. Language and theme are in the bar above it. */
export function AuthCard({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-1 flex-col items-center justify-center px-4 py-8">
      <Card className="grid w-full max-w-[400px] gap-5 p-6 max-sm:border-transparent max-sm:bg-transparent max-sm:p-0">
        <h1 className="text-lg wrap-anywhere">{title}</h1>
        {children}
      </Card>
    </div>
  );
}
