/** The drawings of the page: the seal with its ring, small icons, QR codes. */
import { encode } from 'uqr'
import { MARK } from '../mark.ts'
import { drawing, element } from './dom.ts'
import { onLanguageChange, text } from './language.ts'

/** A seal of wax in a ring that fills up. */
export function seal(): SVGSVGElement {
  return drawing(
    'svg',
    { class: 'seal', viewBox: '-60 -60 120 120' },
    drawing('circle', { class: 'seal-track', r: '56' }),
    drawing('circle', { class: 'seal-ring', r: '56', pathLength: '1' }),
    drawing('path', { class: 'seal-wax', d: waxEdge() }),
    drawing('circle', { class: 'seal-rim', r: '36' }),
    drawing('path', {
      class: 'seal-mark',
      d: MARK,
      transform: 'translate(-14.4 -14.4) scale(0.9)',
    }),
  )
}

/** The outline of a drop of wax under a stamp: almost round. */
function waxEdge(): string {
  const steps = 144
  const points = Array.from({ length: steps }, (_, at) => {
    const turn = (at / steps) * 2 * Math.PI
    const reach =
      46.5 + 0.4 * Math.sin(3 * turn + 1) + Math.sin(10 * turn) + 0.5 * Math.sin(17 * turn + 2)
    return `${(reach * Math.cos(turn)).toFixed(1)} ${(reach * Math.sin(turn)).toFixed(1)}`
  })
  return `M${points.join('L')}Z`
}

const GLYPHS = {
  key: ['M8 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z', 'M12 12h9v3', 'M17 12v2.5'],
  envelope: [
    'M5.5 5.5h13a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-13a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2z',
    'M4 7.5l8 5.5 8-5.5',
  ],
  file: [
    'M7 3.5h7l4.5 4.5v11a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5z',
    'M13.5 4v4.5H18',
  ],
  flame: [
    'M12 3.5c.5 3.5 5 5.5 5 10a5 5 0 0 1-10 0c0-2 1-3.2 2-4.2.3 1.5 1 2.2 1.8 2.4C10.5 9 10.7 6 12 3.5z',
  ],
} as const

export function glyph(name: keyof typeof GLYPHS): HTMLElement {
  const paths = GLYPHS[name].map((d) => drawing('path', { d }))
  return element('span', { class: 'sign' }, drawing('svg', { viewBox: '0 0 24 24' }, ...paths))
}

/** Dark on light in every colour scheme: not all cameras can read light on dark. */
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
  return onLanguageChange(picture, () => picture.setAttribute('aria-label', text('sealed.qrLabel')))
}
