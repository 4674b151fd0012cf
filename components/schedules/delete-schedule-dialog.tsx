"use client";
/**
 * Deletes a schedule, having said what goes and what stays.
 */
import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@/components/ui/button";
import { CopyCurl } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { queryKeys } from "@/components/ui/query-keys";
import { ErrorPanel } from "@/components/ui/states";
import { showToast } from "@/components/ui/toast";
import { useCall } from "@/components/ui/use-call";
import { useClient } from "@/components/ui/use-client";
import { curlOf } from "@/lib/client/curl-of";

export function DeleteScheduleDialog({
  scheduleId,
  onClose,
  onDeleted,
}: {
  scheduleId: string;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const client = useClient();
  const queryClient = useQueryClient();
  const remove = useCall({
    mutationFn: () => client.deleteSchedule({ scheduleId }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.schedules });
      onDeleted();
      showToast(`${scheduleId} is deleted.`);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={
        <>
          Delete <span className="font-mono">{scheduleId}</span>
        </>
      }
      width={440}
      testId="delete-schedule-dialog"
      footer={
        <>
          <CopyCurl
            variant="link"
            className="mr-auto"
            line={() => curlOf("deleteSchedule", { scheduleId }, { baseUrl: window.location.origin })}
          />
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
            data-testid="delete-schedule-submit"
          >
            {remove.isPending ? "Deleting…" : "Delete"}
          </Button>
        </>
      }
    >
      <ul className="list-disc space-y-1 pl-4 text-body text-text-2">
        <li>It fires no more, and the record of its ticks goes. The audit keeps that it was deleted.</li>
        <li>Instances that it started go on.</li>
        <li>To stop it for a while, pause it instead.</li>
      </ul>
      {remove.error ? (
        <ErrorPanel className="mt-3.5" title={`Couldn’t delete ${scheduleId}`} error={remove.error} />
      ) : null}
    </Dialog>
  );
}
