import type { Metadata } from "next";
import { BatchPage } from "@/components/instances/batch-page";

export const metadata: Metadata = { title: "Batch" };

interface Props {
  params: Promise<{ batchId: string }>;
}

export default async function Page({ params }: Props) {
  const batchId = decodeURIComponent((await params).batchId);
  return <BatchPage key={batchId} batchId={batchId} />;
}
