/** One line drawing for each service; a service without one of its own gets a plain door. */
const GLYPHS: Readonly<Record<string, readonly string[]>> = {
  // An envelope, shut.
  sealed: [
    'M5.5 5.5h13a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-13a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2z',
    'M4 7.5l8 5.5 8-5.5',
  ],
  // A hook that hangs from its eye.
  ferryhook: [
    'M15.5 3a1.75 1.75 0 1 1 0 3.5 1.75 1.75 0 0 1 0-3.5z',
    'M15.5 6.5v9a4.5 4.5 0 0 1-9 0v-3.5l3 2.5',
  ],
  // A deck on an arch.
  'form-bridge': ['M3 8.5h18', 'M5.5 8.5v9', 'M18.5 8.5v9', 'M5.5 17.5a6.5 6.5 0 0 1 13 0'],
  // A key.
  'key-store': ['M8 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z', 'M12 12h9v3', 'M17 12v2.5'],
  // Two circles: only what lies in both is let in.
  'two-key': ['M9 7a5 5 0 1 1 0 10A5 5 0 0 1 9 7z', 'M15 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10z'],
}

const DOOR = ['M6.5 3.5h11v17h-11z', 'M14.5 11v2']

export function ServiceGlyph({ name }: { name: string }) {
  const paths = Object.hasOwn(GLYPHS, name) ? GLYPHS[name] : DOOR
  return (
    <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {paths?.map((d) => (
        <path d={d} />
      ))}
    </svg>
  )
}
