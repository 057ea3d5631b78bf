import { encode } from 'uqr'
import { drawing } from './dom.ts'
import { bind, text } from './language.ts'

/** Dark on light in every colour scheme: not all cameras read it the other way round. */
export function qrCode(link: string): SVGSVGElement {
  const { data, size } = encode(link, { ecc: 'M', border: 3 })
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? 'x' : ' '))
        .join('')
        .matchAll(/x+/g),
    ].map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
  )
  const picture = drawing(
    'svg',
    { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'shape-rendering': 'crispEdges' },
    drawing('rect', { width: String(size), height: String(size), fill: '#fff' }),
    drawing('path', { d: runs.join(''), fill: '#000' }),
  )
  return bind(picture, () => picture.setAttribute('aria-label', text('sealed.qrLabel')))
}
