/** Events over time; dragging or the arrow keys choose a part of it. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatClock, formatCount, formatDay } from '../../parts/format.ts'

export interface Column {
  startsAt: number
  total: number
  problems: number
}

const WIDTH = 960
const HEIGHT = 100
/** A column with any problem is visible. */
const MIN_PROBLEM_HEIGHT = 8

export function Histogram(props: {
  columns: readonly Column[]
  bucketMs: number
  /** The part that is chosen. */
  picked: { from: number; to: number } | undefined
  onPick: (from: number, to: number) => void
}) {
  const { columns, bucketMs, picked } = props
  const plot = useRef<SVGSVGElement>(null)
  const drag = useSignal<{ from: number; to: number } | undefined>(undefined)
  const first = columns[0]?.startsAt ?? 0
  const span = columns.length * bucketMs
  const most = Math.max(1, ...columns.map(({ total }) => total))
  const width = WIDTH / Math.max(1, columns.length)

  const timeAt = (event: PointerEvent) => {
    const box = plot.current?.getBoundingClientRect()
    const share = box ? (event.clientX - box.left) / box.width : 0
    return first + Math.min(1, Math.max(0, share)) * span
  }
  const finish = () => {
    const chosen = drag.value
    drag.value = undefined
    if (!chosen) return
    const [from, to] = [Math.min(chosen.from, chosen.to), Math.max(chosen.from, chosen.to)]
    const start = first + Math.floor((from - first) / bucketMs) * bucketMs
    const end = first + Math.max(1, Math.ceil((to - first) / bucketMs)) * bucketMs
    props.onPick(start, Math.max(end, start + bucketMs) - 1)
  }
  const shown = drag.value ?? picked
  const xOf = (time: number) => Math.min(WIDTH, Math.max(0, ((time - first) / span) * WIDTH))
  const total = columns.reduce((sum, column) => sum + column.total, 0)
  const problems = columns.reduce((sum, column) => sum + column.problems, 0)
  return (
    <figure
      class="hist"
      role="img"
      aria-label={`${formatCount(total, 'event')} over time, ${formatCount(problems, 'problem')}. Drag to choose a time.`}
    >
      <span class="small faint">{span > 172_800_000 ? formatDay(first) : formatClock(first)}</span>
      <svg
        class="chart-plot hist-plot"
        ref={plot}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          drag.value = { from: timeAt(event), to: timeAt(event) }
        }}
        onPointerMove={(event) => {
          if (drag.value) drag.value = { ...drag.value, to: timeAt(event) }
        }}
        onPointerUp={finish}
        onPointerCancel={() => (drag.value = undefined)}
      >
        {columns.map((column, index) => {
          const tall = (column.total / most) * HEIGHT
          const bad =
            column.problems === 0
              ? 0
              : Math.max(MIN_PROBLEM_HEIGHT, (column.problems / most) * HEIGHT)
          return (
            <g key={column.startsAt}>
              <rect
                class="f-mute"
                x={index * width + 1}
                width={Math.max(1, width - 2)}
                y={HEIGHT - tall}
                height={tall}
              />
              <rect
                class="f-bad"
                x={index * width + 1}
                width={Math.max(1, width - 2)}
                y={HEIGHT - bad}
                height={bad}
              />
            </g>
          )
        })}
        {shown && (
          <rect
            class="pick"
            x={Math.min(xOf(shown.from), xOf(shown.to))}
            width={Math.max(2, Math.abs(xOf(shown.to) - xOf(shown.from)))}
            y="0"
            height={HEIGHT}
          />
        )}
        <line class="base" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <span class="small faint">
        {Math.abs(first + span - Date.now()) <= bucketMs ? 'Now' : formatClock(first + span)}
      </span>
    </figure>
  )
}
