/** Lines of code as text: JSON in colours, and differences with long equal parts folded. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { formatNumber } from '../../parts/format.ts'
import { diffLines, type DiffLine } from '../../parts/line-diff.ts'

const MAX_SHOWN_LINES = 2_000
/** Equal lines that stay visible beside a difference. */
const CONTEXT = 3

const TOKENS =
  /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g

function colored(text: string): ComponentChildren {
  const parts: ComponentChildren[] = []
  let last = 0
  for (const match of text.matchAll(TOKENS)) {
    const [all, quoted, colon, number] = match
    parts.push(text.slice(last, match.index))
    if (quoted !== undefined) {
      parts.push(<span class={colon === undefined ? 's' : 'k'}>{quoted}</span>, colon ?? '')
    } else parts.push(<span class={number === undefined ? 'w' : 'n'}>{all}</span>)
    last = match.index + all.length
  }
  return [...parts, text.slice(last)]
}

export function CodeView({ text, label }: { text: string; label: string }) {
  const lines = text.split('\n')
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      <code dir="ltr">
        {lines.slice(0, MAX_SHOWN_LINES).map((line, index) => (
          <span class="l" key={index}>
            {colored(line)}
          </span>
        ))}
        {lines.length > MAX_SHOWN_LINES && (
          <span class="l fold">
            {formatNumber(lines.length - MAX_SHOWN_LINES)} more lines are not shown
          </span>
        )}
      </code>
    </pre>
  )
}

export function DiffView({ before, after }: { before: string; after: string }) {
  const blocks = foldBlocks(diffLines(before, after))
  return (
    <pre class="code diff" tabIndex={0} aria-label="Difference between input and output">
      <code dir="ltr">
        {blocks.map((block, index) => (
          <Block block={block} key={index} />
        ))}
      </code>
    </pre>
  )
}

interface DiffBlock {
  lines: DiffLine[]
  isFolded: boolean
}

function Block({ block }: { block: DiffBlock }) {
  const isOpen = useSignal(!block.isFolded)
  if (!isOpen.value) {
    return (
      <button class="l fold" type="button" onClick={() => (isOpen.value = true)}>
        {formatNumber(block.lines.length)} lines that stay the same
      </button>
    )
  }
  return (
    <>
      {block.lines.slice(0, MAX_SHOWN_LINES).map(({ kind, text }, index) => (
        <span class={kind === 'same' ? 'l' : `l ${kind}`} key={index}>
          {kind !== 'same' && (
            <span class="unseen">{kind === 'added' ? 'Added: ' : 'Removed: '}</span>
          )}
          {colored(text)}
        </span>
      ))}
    </>
  )
}

/** Long runs of equal lines are folded, except for those beside a difference. */
function foldBlocks(lines: readonly DiffLine[]): DiffBlock[] {
  const blocks: DiffBlock[] = []
  const add = (part: DiffLine[], isFolded: boolean) => {
    if (part.length > 0) blocks.push({ lines: part, isFolded })
  }
  for (let from = 0; from < lines.length;) {
    const kind = lines[from]?.kind
    let to = from
    while (to < lines.length && (lines[to]?.kind === 'same') === (kind === 'same')) to++
    const run = lines.slice(from, to)
    if (kind !== 'same') add(run, false)
    else {
      const head = from === 0 ? 1 : CONTEXT
      const tail = to === lines.length ? 1 : CONTEXT
      if (run.length <= head + tail + 2) add(run, false)
      else {
        add(run.slice(0, head), false)
        add(run.slice(head, run.length - tail), true)
        add(run.slice(run.length - tail), false)
      }
    }
    from = to
  }
  return blocks
}
