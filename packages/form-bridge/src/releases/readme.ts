/** Reads readme.txt of a plugin: its fields, and its sections as simple HTML for WordPress. */

export interface Readme {
  tested: string
  requires: string
  requires_php: string
  stable_tag: string
  /** HTML by lower-case name: `description`, `changelog`. */
  sections: Record<string, string>
  /** Plain text. */
  upgradeNotice(version: string): string
}

/** WordPress has a tab for each of these. */
const SECTIONS: Record<string, string> = {
  description: 'description',
  installation: 'installation',
  'frequently asked questions': 'faq',
  faq: 'faq',
  changelog: 'changelog',
}

export function readReadme(text: string): Readme {
  const [head, ...parts] = splitByHeading(text.replaceAll('\r\n', '\n'), '==')
  const sections: Record<string, string> = {}
  let notices = ''
  for (const { title, content } of parts) {
    const name = SECTIONS[title.toLowerCase()]
    if (name !== undefined) sections[name] = toHtml(content)
    if (title.toLowerCase() === 'upgrade notice') notices = content
  }
  const fields = head?.content ?? ''
  return {
    tested: readField(fields, 'Tested up to'),
    requires: readField(fields, 'Requires at least'),
    requires_php: readField(fields, 'Requires PHP'),
    stable_tag: readField(fields, 'Stable tag'),
    sections,
    upgradeNotice(version) {
      const [, ...all] = splitByHeading(notices, '=')
      return all.find(({ title }) => title === version)?.content.trim() ?? ''
    },
  }
}

/** The text before the first heading, with an empty title, and then each heading with its text. */
function splitByHeading(text: string, marker: '=' | '=='): { title: string; content: string }[] {
  const parts: { title: string; lines: string[] }[] = [{ title: '', lines: [] }]
  for (const line of text.split('\n')) {
    const title = headingIn(line, marker)
    if (title === undefined) parts.at(-1)?.lines.push(line)
    else parts.push({ title, lines: [] })
  }
  return parts.map(({ title, lines }) => ({ title, content: lines.join('\n') }))
}

/** `== Title ==`. Without a regular expression, whose time would grow with the cube of the length. */
function headingIn(line: string, marker: '=' | '=='): string | undefined {
  const text = line.trimEnd()
  const title = text.slice(marker.length, -marker.length)
  const isHeading =
    text.startsWith(marker) && text.endsWith(marker) && text.length > 2 * marker.length
  // `=== Title ===` is the name of the plugin.
  if (!isHeading || (marker === '==' && title.startsWith('='))) return undefined
  return title.trim() === '' ? undefined : title.trim()
}

/** A field of a plugin header or of a readme, as WordPress reads it; empty if it is missing. */
export function readField(text: string, name: string): string {
  const [, value = ''] =
    new RegExp(`^(?:[ \\t]*<\\?php)?[ \\t/*#@]*${name}:(.*)$`, 'mi').exec(text) ?? []
  const end = value.search(/\*\/|\?>/)
  return (end < 0 ? value : value.slice(0, end)).trim()
}

/** Blocks are separated by empty lines; a subheading is a block of its own. */
function toHtml(text: string): string {
  const blocks: string[][] = [[]]
  for (const line of text.trim().split('\n')) {
    const isSubheading = headingIn(line, '=') !== undefined
    if (line === '' || isSubheading || line.startsWith('= ')) blocks.push([])
    if (line !== '') blocks.at(-1)?.push(line)
    if (isSubheading) blocks.push([])
  }
  return blocks
    .filter((lines) => lines.length > 0)
    .map(blockToHtml)
    .join('\n')
}

function blockToHtml(lines: readonly string[]): string {
  const heading = lines.length === 1 ? headingIn(lines[0] ?? '', '=') : undefined
  if (heading !== undefined) return `<h4>${inlineToHtml(heading)}</h4>`
  const items = lines.flatMap((line) => /^\s*[*-]\s+(.+)$/.exec(line)?.[1] ?? [])
  if (items.length > 0 && items.length === lines.length) {
    return `<ul>${items.map((item) => `<li>${inlineToHtml(item)}</li>`).join('')}</ul>`
  }
  return `<p>${inlineToHtml(lines.join(' '))}</p>`
}

function inlineToHtml(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^[\]]+)\]\((https?:\/\/[^\s)"']+)\)/g, '<a href="$2">$1</a>')
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
