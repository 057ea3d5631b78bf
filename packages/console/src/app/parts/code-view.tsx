/** Lines of code with numbers. Only those in view are in the document. */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { jsonParts, type Lines, showInvisible } from './code-text.ts'

const LINE_PX = 20
const MARGIN_LINES = 20

export function CodeView(props: {
  lines: Lines
  label: string
  isJson?: boolean
  hasNumbers?: boolean
  /** Marked and scrolled to. */
  found?: readonly number[]
  current?: number | undefined
}) {
  const { lines, isJson = false, hasNumbers = true, found = [], current } = props
  const area = useRef<HTMLPreElement>(null)
  const content = useRef<HTMLElement>(null)
  const first = useSignal(0)
  const visible = useSignal(80)
  const measure = () => {
    const element = area.current
    if (!element) return
    const top = Math.floor(element.scrollTop / LINE_PX / 10) * 10
    first.value = Math.max(0, top - MARGIN_LINES)
    visible.value = Math.ceil(element.clientHeight / LINE_PX) + 2 * MARGIN_LINES + 10
  }
  useEffect(() => {
    const observer = new ResizeObserver(measure)
    if (area.current) observer.observe(area.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    area.current?.scrollTo({ top: 0, left: 0 })
    measure()
  }, [lines])
  useEffect(() => {
    if (current === undefined || !area.current) return
    area.current.scrollTop = Math.max(0, current * LINE_PX - area.current.clientHeight / 2)
    measure()
  }, [current])
  const start = Math.min(first.value, Math.max(0, lines.count - visible.value))
  const end = Math.min(lines.count, start + visible.value)
  useLayoutEffect(() => {
    content.current?.style.setProperty('--rows-before', `${start * LINE_PX}px`)
    content.current?.style.setProperty('--rows-total', `${lines.count * LINE_PX}px`)
    content.current?.style.setProperty('--first-line', String(start))
  })
  const marked = new Set(found)
  return (
    <pre
      class={hasNumbers ? 'code' : 'code code-plain'}
      ref={area}
      tabIndex={0}
      role="region"
      aria-label={props.label}
      onScroll={measure}
    >
      <code class="virtual" ref={content}>
        {Array.from({ length: end - start }, (_, offset) => {
          const index = start + offset
          const text = lines.at(index)
          const parts = isJson ? jsonParts(text) : showInvisible({ text })
          return (
            <span class={marked.has(index) ? 'l is-found' : 'l'} key={index}>
              {parts.map((part) =>
                part.look ? <span class={part.look}>{part.text}</span> : part.text,
              )}
              {'\n'}
            </span>
          )
        })}
      </code>
    </pre>
  )
}
