"use client";
/**
 * A call that changes something, by a press.
 *
 * Holds: while it is under way no second press makes another, also one that comes before the page is drawn anew and the button
 *        looks off. A double click on a button that stays is one press.
 */
import { useMutation, type UseMutationOptions, type UseMutationResult } from "@tanstack/react-query";
import { useCallback, useRef, type MouseEvent } from "react";

export type Call<Answer, Asked> = Omit<UseMutationResult<Answer, Error, Asked>, "mutate" | "mutateAsync"> & {
  mutate: (asked: Asked) => void;
};

export function useCall<Answer, Asked = void>(
  options: UseMutationOptions<Answer, Error, Asked>,
): Call<Answer, Asked> {
  const { mutateAsync, ...call } = useMutation(options);
  const one = useOneAtATime();
  // A refusal is in `error`.
  const mutate = useCallback(
    (asked: Asked) => one(() => mutateAsync(asked).catch(() => undefined)),
    [one, mutateAsync],
  );
  return { ...call, mutate };
}

/** Does `work`, which handles its own failures, unless what it was given before is still under way. */
export function useOneAtATime(): (work: () => Promise<unknown>) => void {
  const underWay = useRef(false);
  return useCallback((work) => {
    if (underWay.current) return;
    underWay.current = true;
    void work().finally(() => {
      underWay.current = false;
    });
  }, []);
}

/** On a button that stays where it is: the answer may be there between the two clicks of a double click. */
export const firstClick =
  (act: () => void) =>
  ({ detail }: Pick<MouseEvent, "detail">): void => {
    if (detail <= 1) act();
  };
