import type { Metadata } from "next";
import { BatchesPage } from "@/components/instances/batches-page";

export const metadata: Metadata = { title: "Batches" };

export default function Page() {
  return <BatchesPage />;
}
