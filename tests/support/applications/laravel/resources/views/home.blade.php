@extends('layout')
@section('title', config('app.name'))
@section('content')
<p id="version">{{ $version }}</p>
@foreach (['a', '<b>'] as $item)
<li>{{ $item }}</li>
@endforeach
<form method="post" action="{{ url('/form') }}">@csrf<input name="text"></form>
@endsection
