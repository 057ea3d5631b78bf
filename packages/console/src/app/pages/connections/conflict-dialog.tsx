/** Two people changed the same connection: both versions, and nothing is lost. */
import type { Connection } from '../../api/ferryhook.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { DiffView } from './code-view.tsx'
import {
  changedSections,
  changesOf,
  type Draft,
  type Section,
  SECTION_NAMES,
  toDraft,
} from './draft.ts'

const ALL: readonly Section[] = ['destination', 'filter', 'transform', 'headers', 'retry', 'limits']

export function ConflictDialog(props: {
  mine: Draft
  /** What I changed. */
  changed: readonly Section[]
  base: Connection
  theirs: Connection
  onKeepMine: () => void
  onTakeTheirs: () => void
  onClose: () => void
}) {
  const { mine, changed, theirs } = props
  const both = changedSections(mine, theirs).filter((section) => changed.includes(section))
  const sections = both.length > 0 ? both : ALL
  const names = changed.map((section) => SECTION_NAMES[section]).join(', ')
  return (
    <Dialog
      title="Somebody else changed this connection"
      wide
      onClose={props.onClose}
      onSubmit={props.onKeepMine}
      foot={
        <>
          <button class="button button-quiet" type="button" onClick={props.onClose}>
            <span>Keep editing</span>
          </button>
          <button class="button" type="button" onClick={props.onTakeTheirs}>
            <span>Discard mine</span>
          </button>
          <button class="button button-primary" type="submit">
            <span>Save mine</span>
          </button>
        </>
      }
    >
      <p>
        It was saved after you opened it, so nothing of yours was saved yet. “Save mine” replaces
        only what you changed ({names}); everything else of the other version stays.
      </p>
      <div class="viewer">
        <div class="viewer-head">
          <span>Removed: saved by somebody else. Added: yours.</span>
        </div>
        <DiffView before={textOf(toDraft(theirs), sections)} after={textOf(mine, sections)} />
      </div>
    </Dialog>
  )
}

/** Header values stay out of the picture. */
function textOf(draft: Draft, sections: readonly Section[]): string {
  const { headers, transform, ...rest } = changesOf(draft, sections)
  const shown = {
    ...rest,
    ...(transform && transform.type !== 'javascript' && { transform }),
    ...(headers && { headers: Object.keys(headers) }),
  }
  const code = transform?.type === 'javascript' ? `\n\n${transform.code}` : ''
  return JSON.stringify(shown, null, 2) + code
}
