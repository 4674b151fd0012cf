/** Words with the names in them set apart. */
import { Fragment } from "react";
import { splitNames } from "./control-words";

export const WithNames = ({ text, names }: { text: string; names: readonly string[] }) =>
  splitNames(text, names).map((piece, place) =>
    place % 2 === 0 ? (
      <Fragment key={place}>{piece}</Fragment>
    ) : (
      <span key={place} className="font-mono text-table font-medium">
        {piece}
      </span>
    ),
  );
