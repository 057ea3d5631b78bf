/** A plugin's readme.txt: its fields, and its sections as the simple HTML that WordPress shows. */
import { fieldIn } from './plugin-header.ts'

export interface Readme {
  tested: string
  requires: string
  requires_php: string
  stable_tag: string
  /** HTML by name, in lower case: `description`, `changelog`. */
  sections: Record<string, string>
  /** The notice of one version, as text. */
  noticeOf(version: string): string
}

/** Those that have a tab in WordPress; anything else is not shown. */
const shown: Record<string, string> = {
  description: 'description',
  installation: 'installation',
  'frequently asked questions': 'faq',
  faq: 'faq',
  changelog: 'changelog',
}

export function readReadme(text: string): Readme {
  const [head = '', ...parts] = text.replaceAll('\r\n', '\n').split(/^==(?!=)\s*(.+?)\s*==\s*$/m)
  const sections: Record<string, string> = {}
  let notices = ''
  for (let at = 0; at < parts.length; at += 2) {
    const [title = '', content = ''] = [parts[at]?.toLowerCase(), parts[at + 1]]
    const name = shown[title]
    if (name !== undefined) sections[name] = htmlOf(content)
    if (title === 'upgrade notice') notices = content
  }
  return {
    tested: fieldIn(head, 'Tested up to'),
    requires: fieldIn(head, 'Requires at least'),
    requires_php: fieldIn(head, 'Requires PHP'),
    stable_tag: fieldIn(head, 'Stable tag'),
    sections,
    noticeOf(version) {
      const [, ...each] = notices.split(/^=\s*(.+?)\s*=\s*$/m)
      const at = each.indexOf(version)
      return at < 0 || at % 2 === 1 ? '' : (each[at + 1] ?? '').trim()
    },
  }
}

function htmlOf(text: string): string {
  return text
    .trim()
    .split(/\n{2,}|\n(?==\s)|(?<=^=.*=\s*)\n/m)
    .map(blockOf)
    .join('\n')
}

function blockOf(block: string): string {
  const [, heading] = /^=\s*(.+?)\s*=\s*$/.exec(block.trim()) ?? []
  if (heading !== undefined) return `<h4>${inline(heading)}</h4>`
  const lines = block.trim().split('\n')
  const items = lines.flatMap((line) => /^\s*[*-]\s+(.+)$/.exec(line)?.[1] ?? [])
  if (items.length > 0 && items.length === lines.length) {
    return `<ul>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`
  }
  return `<p>${inline(lines.join(' '))}</p>`
}

function inline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^\]]+)\]\((https?:\/\/[^\s)"']+)\)/g, '<a href="$2">$1</a>')
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
