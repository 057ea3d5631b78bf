/**
 * The part of Markdown that the guides use, as elements: text is always escaped, and whatever it does not
 * know stays visible as text.
 */
import type { Child } from 'hono/jsx'

export interface MarkdownOptions {
  /** Where a link leads; undefined for one that has no place here, which stays text. */
  resolveLink: (address: string) => string | undefined
  resolveImage: (address: string) => string | undefined
}

export interface Heading {
  level: number
  text: string
  id: string
}

export interface Rendered {
  headings: Heading[]
  content: Child[]
}

export function renderMarkdown(text: string, options: MarkdownOptions): Rendered {
  const lines = text.split('\n')
  const headings: Heading[] = []
  const content: Child[] = []
  const slug = createSlugs()
  let at = 0

  /** Lines from here on for which the condition holds. */
  const take = (isPart: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && isPart(lines[at] ?? '')) at += 1
    return lines.slice(from, at)
  }

  while (at < lines.length) {
    const line = lines[at] ?? ''
    const heading = /^(#{1,6})\s+(.+?)\s*$/.exec(line)
    if (line.trim() === '') {
      at += 1
    } else if (line.startsWith('```')) {
      at += 1
      const code = take((each) => !each.startsWith('```'))
      at += 1
      content.push(
        <pre tabindex={0}>
          <code>{`${code.join('\n')}\n`}</code>
        </pre>,
      )
    } else if (heading) {
      at += 1
      const [, marks = '', words = ''] = heading
      const id = slug(plainText(words))
      headings.push({ level: marks.length, text: plainText(words), id })
      content.push(<Title level={marks.length} id={id} words={words} options={options} />)
    } else if (line.startsWith('|')) {
      content.push(<Table rows={take((each) => each.startsWith('|'))} options={options} />)
    } else if (ITEM.test(line)) {
      content.push(
        <List lines={take((each) => ITEM.test(each) || /^\s+\S/.test(each))} options={options} />,
      )
    } else {
      const words = take((each) => each.trim() !== '' && !BLOCK.test(each)).join(' ')
      content.push(
        <p>
          <Inline text={words} options={options} />
        </p>,
      )
    }
  }
  return { headings, content }
}

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/
const BLOCK = /^(?:#{1,6}\s|```|\||\s*(?:[-*]|\d+\.)\s+)/

function Title(props: { level: number; id: string; words: string; options: MarkdownOptions }) {
  const { level, id, words, options } = props
  const text = <Inline text={words} options={options} />
  const link = (
    <a class="permalink" href={`#${id}`}>
      {text}
    </a>
  )
  if (level === 1) return <h1 id={id}>{text}</h1>
  if (level === 2) return <h2 id={id}>{link}</h2>
  if (level === 3) return <h3 id={id}>{link}</h3>
  return <h4 id={id}>{link}</h4>
}

function Table({ rows, options }: { rows: readonly string[]; options: MarkdownOptions }) {
  const [head = [], , ...body] = rows.map(cells)
  const hasHead = head.some((cell) => cell !== '')
  return (
    <div class="guide-table" tabindex={0}>
      <table>
        {hasHead && (
          <thead>
            <tr>
              {head.map((cell) =>
                cell === '' ? (
                  <td></td>
                ) : (
                  <th scope="col">
                    <Inline text={cell} options={options} />
                  </th>
                ),
              )}
            </tr>
          </thead>
        )}
        <tbody>
          {body.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>
                  <Inline text={cell} options={options} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cells(row: string): string[] {
  return row
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function List({ lines, options }: { lines: readonly string[]; options: MarkdownOptions }) {
  const items: string[][] = []
  for (const line of lines) {
    if (/^(?:[-*]|\d+\.)\s+/.test(line)) items.push([line.replace(ITEM, '')])
    else items.at(-1)?.push(line)
  }
  const children = items.map(([first = '', ...rest]) => {
    const nested = rest.map((line) => line.replace(/^\s{2,4}/, ''))
    const isList = nested.some((line) => ITEM.test(line))
    const words = isList ? first : [first, ...nested.map((line) => line.trim())].join(' ')
    return (
      <li>
        <Inline text={words} options={options} />
        {isList && <List lines={nested} options={options} />}
      </li>
    )
  })
  return /^\s*\d/.test(lines[0] ?? '') ? <ol>{children}</ol> : <ul>{children}</ul>
}

const SPAN =
  /(`+)(.+?)\1(?!`)|!\[([^\]]*)\]\(([^)\s]+)\)|\[((?:`[^`]*`|[^\]`])+)\]\(([^)\s]+)\)|\*\*(.+?)\*\*|(?<![\w*])[_*]([^_*\s](?:[^_*]*[^_*\s])?)[_*](?![\w*])|(https?:\/\/[^\s<>)`]*[^\s<>)`.,:;])/g

function Inline({ text, options }: { text: string; options: MarkdownOptions }) {
  const parts: Child[] = []
  let end = 0
  for (const match of text.matchAll(SPAN)) {
    const [whole, , code, alt, image, label, address, strong, emphasis, url] = match
    parts.push(unescape(text.slice(end, match.index)))
    end = match.index + whole.length
    if (code !== undefined) parts.push(<code>{code.replace(/^ (.*) $/, '$1')}</code>)
    else if (image !== undefined)
      parts.push(<Image alt={alt ?? ''} address={image} options={options} />)
    else if (label !== undefined && address !== undefined)
      parts.push(<Link label={label} address={address} options={options} />)
    else if (strong !== undefined)
      parts.push(
        <strong>
          <Inline text={strong} options={options} />
        </strong>,
      )
    else if (emphasis !== undefined)
      parts.push(
        <em>
          <Inline text={emphasis} options={options} />
        </em>,
      )
    else if (url !== undefined) parts.push(<a href={url}>{url}</a>)
  }
  return (
    <>
      {parts}
      {unescape(text.slice(end))}
    </>
  )
}

function Link(props: { label: string; address: string; options: MarkdownOptions }) {
  const { label, address, options } = props
  const words = <Inline text={label} options={options} />
  const href = options.resolveLink(address)
  return href === undefined ? words : <a href={href}>{words}</a>
}

function Image(props: { alt: string; address: string; options: MarkdownOptions }) {
  const src = props.options.resolveImage(props.address)
  return src === undefined ? <>{props.alt}</> : <img src={src} alt={props.alt} loading="lazy" />
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\\`*_{}[\]()#+\-.!|<>])/g, '$1')
}

function plainText(words: string): string {
  return unescape(words.replaceAll(/[`*]|\[([^\]]+)\]\([^)]*\)/g, '$1'))
}

/** As GitHub makes them, so that links between the guides work in both places. */
function createSlugs(): (text: string) => string {
  const used = new Map<string, number>()
  return (text) => {
    const base = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const times = used.get(base) ?? 0
    used.set(base, times + 1)
    return times === 0 ? base : `${base}-${times}`
  }
}
