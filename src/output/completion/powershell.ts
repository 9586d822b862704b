/** PowerShell completes file names by itself where nothing is offered. */
export default String.raw`# PowerShell completion for refcheck
Register-ArgumentCompleter -Native -CommandName refcheck -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $before = @(
    $commandAst.CommandElements |
      Select-Object -Skip 1 |
      Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
      ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() } }
  )
  refcheck complete "--current=$wordToComplete" '--' @before 2>$null | ForEach-Object {
    if ($_ -notlike ':*') {
      $value, $about = $_ -split ${'"`t"'}, 2
      if (-not $about) { $about = $value }
      $text = if ($value -match '[\s''"$;,(){}&|]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
      [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $about)
    }
  }
}
`
