/** A list of any length: only the rows in view are in the document. Rows have one height. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

export interface ListControl {
  /** Scrolls as little as necessary. */
  reveal(index: number): void
  toTop(): void
  /** Whether nothing above is hidden. */
  isAtTop(): boolean
}

const MARGIN_ROWS = 8
/** Rows are rendered again only after several of them were passed. */
const STEP_ROWS = 4
const NEAR_END_ROWS = 40

export function VirtualList<T>(props: {
  items: readonly T[]
  label: string
  /** One row: an `<li>` with a key. */
  row: (item: T, index: number) => ComponentChildren
  /** Above and below the rows, inside the scrolled area. */
  head?: ComponentChildren
  foot?: ComponentChildren
  /** Called when the last rows come into view. */
  onNearEnd?: () => void
  control?: RefObject<ListControl | null>
}) {
  const { items, onNearEnd, control } = props
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const first = useSignal(0)
  const visible = useSignal(30)
  const rowHeight = useSignal(50)

  const measure = () => {
    const area = scroller.current
    if (!area) return
    const row = list.current?.firstElementChild
    const height = row?.getBoundingClientRect().height
    if (height) rowHeight.value = height
    const top = Math.floor(area.scrollTop / rowHeight.value / STEP_ROWS) * STEP_ROWS
    first.value = Math.max(0, top - MARGIN_ROWS)
    visible.value = Math.ceil(area.clientHeight / rowHeight.value) + 2 * MARGIN_ROWS + STEP_ROWS
  }
  useLayoutEffect(measure, [items.length])
  useEffect(() => {
    const observer = new ResizeObserver(measure)
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (!control) return
    control.current = {
      reveal(index) {
        const area = scroller.current
        if (!area) return
        const top = index * rowHeight.peek() + (list.current?.offsetTop ?? 0)
        const hidden = list.current?.offsetTop ?? 0
        if (top < area.scrollTop + hidden) area.scrollTop = top - hidden
        else if (top + rowHeight.peek() > area.scrollTop + area.clientHeight)
          area.scrollTop = top + rowHeight.peek() - area.clientHeight
        measure()
      },
      toTop: () => scroller.current?.scrollTo({ top: 0 }),
      isAtTop: () => (scroller.current?.scrollTop ?? 0) < rowHeight.peek() / 2,
    }
  }, [])

  const start = Math.min(first.value, Math.max(0, items.length - visible.value))
  const end = Math.min(items.length, start + visible.value)
  useLayoutEffect(() => {
    list.current?.style.setProperty('--rows-before', `${start * rowHeight.value}px`)
    list.current?.style.setProperty('--rows-total', `${items.length * rowHeight.value}px`)
  })
  useEffect(() => {
    if (end > items.length - NEAR_END_ROWS) onNearEnd?.()
  }, [end, items.length, onNearEnd])

  return (
    <div class="pane-scroll list" ref={scroller} tabIndex={-1} onScroll={measure}>
      {props.head}
      <ol class="virtual" ref={list} aria-label={props.label}>
        {items.slice(start, end).map((item, offset) => props.row(item, start + offset))}
      </ol>
      {props.foot}
    </div>
  )
}
