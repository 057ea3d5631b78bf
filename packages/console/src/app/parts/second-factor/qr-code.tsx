/** A QR code, drawn in the page: what it contains leaves it only through the camera. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export function QrCode({ text, label }: { text: string; label: string }) {
  const drawing = useSignal<{ size: number; path: string } | undefined>(undefined)
  useEffect(() => {
    const draw = async () => {
      const { encode } = await import('uqr')
      const { data, size } = encode(text, { border: 2 })
      const path = data
        .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
        .join('')
      drawing.value = { size, path }
    }
    void draw()
  }, [text])
  if (!drawing.value) return <div class="qr" />
  const { size, path } = drawing.value
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  )
}
