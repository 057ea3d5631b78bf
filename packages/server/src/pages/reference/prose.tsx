/** The subset of CommonMark that descriptions use; everything else is shown as text. */
import type { Child } from 'hono/jsx'
import { safeHref } from '../content.ts'

export function Prose({ text, class: className }: { text: string | undefined; class?: string }) {
  if (text === undefined) return null
  return <div class={className === undefined ? 'prose' : `prose ${className}`}>{blocks(text)}</div>
}

function blocks(text: string): Child[] {
  // Odd parts are inside fences.
  return text.split(/^```[^\n]*$/m).flatMap((part, index) => {
    if (index % 2 === 1) {
      return [
        <pre tabindex={0}>
          <code>{part.replace(/^\n/, '')}</code>
        </pre>,
      ]
    }
    return part
      .split(/\n\s*\n/)
      .map((block) => block.trim())
      .filter((block) => block !== '')
      .map(paragraph)
  })
}

const BULLET = /^\s*[-*]\s+/

function paragraph(block: string): Child {
  const lines = block.split('\n')
  if (lines.every((line) => BULLET.test(line))) {
    return (
      <ul>
        {lines.map((line) => (
          <li>
            <Inline text={line.replace(BULLET, '')} />
          </li>
        ))}
      </ul>
    )
  }
  return (
    <p>
      <Inline text={block.replace(/^#{1,6}\s+/, '')} />
    </p>
  )
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g

/** Code, strong text and links; an unsafe link stays text. */
export function Inline({ text }: { text: string }) {
  const parts: Child[] = []
  let end = 0
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, strong, label, address] = match
    parts.push(text.slice(end, match.index))
    const href = address === undefined ? undefined : safeHref(address)
    if (code !== undefined) parts.push(<code>{code}</code>)
    else if (strong !== undefined) parts.push(<strong>{strong}</strong>)
    else if (href !== undefined) parts.push(<a href={href}>{label}</a>)
    else parts.push(whole)
    end = match.index + whole.length
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  )
}
