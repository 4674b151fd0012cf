import type { Metadata } from "next";
import { LocksPage } from "@/components/locks/locks-page";

export const metadata: Metadata = { title: "Locks" };

export default function Page() {
  return <LocksPage />;
}
