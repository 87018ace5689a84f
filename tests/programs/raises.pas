{ SPDX-License-Identifier: GPL-2.0-or-later
  raises [FRAMES [TIMES]]: exceptions in Free Pascal, which jumps by a setjmp of its own: through
  FRAMES frames, with finally and except, raised once more. Prints what it has counted. }
program raises;
{$mode objfpc}
uses {$ifdef WITH_LIBC} cthreads, {$endif} sysutils;

type
  EBottom = class(Exception);

var
  descend_cnt, around_cnt, finally_cnt, except_cnt: qword;
  frames, times, i: longint;
  sum: qword;

function descend(n: longint): longint; [public, alias: 'descend'];
begin
  inc(descend_cnt);
  try
    if n > 1 then
      descend := descend(n - 1) + 1
    else
      raise EBottom.create('bottom');
  finally
    inc(finally_cnt);
  end;
end;

function around(n: longint): longint; [public, alias: 'around'];
begin
  inc(around_cnt);
  around := 0;
  try
    try
      around := descend(n);
    except
      on e: EBottom do
      begin
        inc(except_cnt);
        raise;
      end;
    end;
  except
    on e: Exception do
    begin
      inc(except_cnt);
      around := length(e.message);
    end;
  end;
end;

begin
  frames := 10;
  times := 20;
  if paramcount > 0 then frames := strtoint(paramstr(1));
  if paramcount > 1 then times := strtoint(paramstr(2));
  sum := 0;
  for i := 1 to times do
    sum := sum + around(frames);
  writeln('sum ', sum, ' finally ', finally_cnt, ' except ', except_cnt);
  writeln('COUNT around ', around_cnt);
  writeln('COUNT descend ', descend_cnt);
  halt(7);
end.
