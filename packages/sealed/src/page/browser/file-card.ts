/** The name and size of a file. Its content is never shown. */
import type { FileContent } from '../../crypto/content.ts'
import { element } from './dom.ts'
import { glyph } from './drawings.ts'
import { formatNumber } from './format.ts'
import { plural, setText } from './language.ts'

export function fileCard({ name, bytes }: FileContent): HTMLElement {
  return element(
    'div',
    { class: 'file-card' },
    glyph('file'),
    element(
      'div',
      { class: 'file-words' },
      element('p', { class: 'file-name', dir: 'auto' }, name),
      setText(element('p', { class: 'hint' }), () =>
        plural('file.size', bytes.length, { size: formatNumber(bytes.length) }),
      ),
    ),
  )
}
