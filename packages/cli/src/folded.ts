/** A text in lines of a width, broken between words; each keeps the indentation of what it is of. */
export function folded(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width ? line : foldedLine(line, width)))
    .join('\n')
}

function foldedLine(line: string, width: number): string[] {
  const [indent = ''] = /^ */.exec(line) ?? []
  const lines: string[] = []
  for (const word of line.trimStart().split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(indent + word)
  }
  return lines
}
