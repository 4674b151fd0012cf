/**
 * Our own namespace in SCXML: attributes that keep what SCXML has no words for. Writer and reader share these names.
 *
 * On <scxml>: `version` (the document is ours), `chart` (JSON: fields of the chart that are no state's). On states:
 * `root`, `key`, `name`, `unnamed`, `state` (JSON: further fields), `absent` (fields the element implies but the chart
 * has not), `initial`, `output`. On transitions: `kind`, `key`, `list`, `transition` (JSON: all but its actions). On
 * blocks: `actions` (`one`: no list; `none`: an empty one). On actions: `action` (JSON). On <invoke>: `invoke`, `one`.
 * `skip` marks what stands there for other tools alone.
 */
export const ownNamespace = "urn:lockstep:chart:1";
